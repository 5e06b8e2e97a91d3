// SPDX-License-Identifier: Apache-2.0
/* The header of a disk image, which a guest may have written. */
#include "tests/fuzz/fuzz.h"

#include "handler/qcow2.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t none[8];
	struct err err = {0};
	uint64_t size;
	int r = qcow2_check(data, len, &size, &err);

	fuzz_said(r, &err);
	if (r == 0) /* offset 8: the place of a backing file's name */
		fuzz_must(qcow2_magic(data, len) && memcmp(data + 8, none, sizeof none) == 0);
	return 0;
}
