// SPDX-License-Identifier: Apache-2.0
/* JSON as it comes over sockets and from files; paths in it; text made of it. */
#include "tests/fuzz/fuzz.h"

#include "lib/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_json_ json_t *value = NULL, *again = NULL, *root = json_object();
	_cleanup_free_ char *path = fuzz_text(data, len);
	_cleanup_free_ char *text = NULL;
	struct err err = {0};
	int r = json_parse((const char *)data, len, 65536, &value, &err);

	fuzz_said(r, &err);
	if (json_path_set(root, path, json_true()) == 0)
		fuzz_must(json_is_true(json_get(root, path)));
	if (r < 0)
		return 0;
	(void)json_get(value, path);
	text = json_text(value);
	fuzz_must(text && json_parse(text, strlen(text), SIZE_MAX, &again, &err) == 0 &&
		  json_equal(value, again));
	return 0;
}
