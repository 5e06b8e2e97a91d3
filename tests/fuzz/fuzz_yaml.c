// SPDX-License-Identifier: Apache-2.0
/* YAML: what is read can be written, and is the same when it is read again. */
#include "tests/fuzz/fuzz.h"

#include "lib/yaml.h"

#include <errno.h>

static void again(const json_t *value)
{
	_cleanup_free_ char *text = yaml_dump(value);
	struct yaml_doc **docs = NULL;
	struct err err = {0};
	size_t n = 0;
	int r = yaml_parse("again", text, strlen(text), &docs, &n, &err);

	/* indented it may be beyond a limit */
	fuzz_must(r == -EFBIG || (r == 0 && n == 1 && json_equal(value, yaml_doc_root(docs[0]))));
	yaml_docs_free(docs, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *path = fuzz_text(data, len);
	struct yaml_doc **docs = NULL;
	struct err err = {0};
	size_t n = 0;

	fuzz_said(yaml_parse("fuzz", (const char *)data, len, &docs, &n, &err), &err);
	for (size_t i = 0; i < n; i++) {
		again(yaml_doc_root(docs[i]));
		(void)yaml_doc_line(docs[i], path, /* key= */ true);
		(void)yaml_doc_line(docs[i], "spec.domain.devices.disks[0].name", /* key= */ false);
	}
	yaml_docs_free(docs, n);
	return 0;
}
