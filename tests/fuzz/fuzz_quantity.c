// SPDX-License-Identifier: Apache-2.0
/* Quantities: both ways of writing one are read as the same again. */
#include "tests/fuzz/fuzz.h"

#include "api/quantity.h"

#include "lib/json.h"

static void again(const struct quantity *q, const char *text)
{
	struct quantity same;

	fuzz_must(quantity_parse(text, &same, NULL) == 0 && quantity_cmp(q, &same) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *text = fuzz_text(data, len);
	_cleanup_json_ json_t *value = json_string(text);
	char buf[QUANTITY_TEXT_MAX];
	struct quantity q;
	struct err err = {0};
	uint64_t u;
	int64_t i;
	int r = quantity_parse(text, &q, &err);

	fuzz_said(r, &err);
	if (value) {
		(void)quantity_bytes(value, &u, NULL);
		(void)quantity_cpus_milli(value, &u, NULL);
	}
	if (r < 0)
		return 0;
	again(&q, quantity_canonical(&q, buf));
	again(&q, quantity_recompute(&q, buf));
	if (quantity_value(&q, &i) == 0)
		fuzz_must((i > 0) - (i < 0) == quantity_sign(&q));
	(void)quantity_milli(&q, &i);
	return 0;
}
