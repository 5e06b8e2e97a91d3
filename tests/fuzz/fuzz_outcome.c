// SPDX-License-Identifier: Apache-2.0
/* The record of a guest's end, which a launcher writes. */
#include "tests/fuzz/fuzz.h"

#include "api/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct outcome o;
	struct err err = {0};
	int r = outcome_parse((const char *)data, len, &o, &err);

	fuzz_said(r, &err);
	if (r < 0)
		return 0;
	fuzz_must(outcome_name(o.kind) && (len == 0) == (o.kind == OUTCOME_NONE));
	for (const char *p = o.message; *p; p++)
		fuzz_must(*p >= ' ' && *p <= '~');
	return 0;
}
