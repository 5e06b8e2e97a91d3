// SPDX-License-Identifier: Apache-2.0
/* Indexes and manifests of image layouts: what they point to is a blob of the layout and nothing else. */
#include "tests/fuzz/fuzz.h"

#include "handler/oci.h"

#include "lib/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char blobs[] = "blobs/sha256/";
	_cleanup_json_ json_t *manifest = NULL;
	_cleanup_free_ char *next = NULL;
	struct err err = {0};
	int r = oci_parse((const char *)data, len, &manifest, &next, &err);

	fuzz_said(r, &err);
	if (r == 1)
		fuzz_must(json_is_array(json_object_get(manifest, "layers")));
	if (r == 0)
		fuzz_must(str_after(next, blobs) && !strchr(next + strlen(blobs), '/') &&
			  strlen(next) == strlen(blobs) + 64);
	return 0;
}
