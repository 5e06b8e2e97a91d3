// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/quantity.h"
#include "tests/unit/oracle.h"

/* About what the text says, found another way: is it beyond 64 bits, when scaled by this? */
static bool beyond(const char *text, long double scale)
{
	static const struct {
		const char *suffix;
		long double factor, divisor;
	} suffixes[] = {
		{"n", 1, 1e9L},	    {"u", 1, 1e6L},	{"m", 1, 1e3L},	    {"", 1, 1},
		{"k", 1e3L, 1},	    {"M", 1e6L, 1},	{"G", 1e9L, 1},	    {"T", 1e12L, 1},
		{"P", 1e15L, 1},    {"E", 1e18L, 1},	{"Ki", 0x1p10L, 1}, {"Mi", 0x1p20L, 1},
		{"Gi", 0x1p30L, 1}, {"Ti", 0x1p40L, 1}, {"Pi", 0x1p50L, 1}, {"Ei", 0x1p60L, 1},
	};
	char *end;
	long double v = strtold(text, &end) * scale; /* takes exponents, too */

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		if (!str_eq(end, suffixes[i].suffix))
			continue;
		v = v * suffixes[i].factor / suffixes[i].divisor;
		return v > 0x1p63L - 1 || v < -0x1p63L;
	}
	fail_msg("'%s'?", text);
	return false;
}

/* A number as the vector has it; refused is right where 64 bits can't hold it. */
static bool same_number(const json_t *vector, const char *field, const struct quantity *q,
			int (*get)(const struct quantity *, int64_t *), long double scale)
{
	char text[QUANTITY_TEXT_MAX];
	int64_t v = -77;
	int r = get(q, &v);

	if (r == 0)
		return v == json_integer_value(json_object_get(vector, field));
	assert_int_equal(r, -ERANGE);
	assert_int_equal(v, -77);
	return beyond(quantity_recompute(q, text), scale);
}

static bool same_json(const json_t *vector, const json_t *in)
{
	char text[QUANTITY_TEXT_MAX];
	struct quantity q;

	if (quantity_from_json(in, &q, NULL) < 0)
		return !json_flag(vector, "json_ok", true);
	return str_eq(quantity_canonical(&q, text), json_str(vector, "json_canonical"));
}

static bool check_vector(const json_t *vector)
{
	static const char *const formats[] = {
		[QUANTITY_DECIMAL_SI] = "DecimalSI",
		[QUANTITY_BINARY_SI] = "BinarySI",
		[QUANTITY_DECIMAL_EXPONENT] = "DecimalExponent",
	};
	char text[QUANTITY_TEXT_MAX];
	struct quantity q;

	if (!same_json(vector, json_object_get(vector, "in")))
		return false;
	if (quantity_parse(json_str(vector, "in"), &q, NULL) < 0)
		return !json_flag(vector, "ok", true);
	return json_flag(vector, "ok", false) &&
	       str_eq(formats[q.format], json_str(vector, "format")) &&
	       quantity_sign(&q) == json_integer_value(json_object_get(vector, "sign")) &&
	       str_eq(quantity_canonical(&q, text), json_str(vector, "canonical")) &&
	       str_eq(quantity_recompute(&q, text), json_str(vector, "recomputed")) &&
	       same_number(vector, "value", &q, quantity_value, 1) &&
	       same_number(vector, "milli", &q, quantity_milli, 1000);
}

static void vectors_agree(void **state)
{
	size_t n;

	(void)state;
	oracle_run("kubernetes/quantity.jsonl", "quantity", check_vector, &n);
	assert_int_equal(n, 294);
}

static void refuse(const char *text, int code, const char *words)
{
	struct quantity q = {.exponent = 77};
	struct err err = {};

	if (quantity_parse(text, &q, &err) != code || !strstr(err.msg, words) || q.exponent != 77)
		fail_msg("'%s': '%s' does not say '%s'", text, err.msg, words);
}

static void refusals_say_what_is_right(void **state)
{
	(void)state;
	refuse("", -EINVAL, "'' is not a quantity: it must be a number");
	refuse("1 Gi", -EINVAL, "without a blank");
	refuse("1Gib", -EINVAL, "it must be a number and a suffix");
	refuse("1K", -EINVAL, "no suffix 'K', only n u m k M G T P E, Ki Mi Gi Ti Pi Ei");
	refuse("1e", -EINVAL, "no suffix 'e'");
	refuse("1e99999999999999999999", -ERANGE, "out of range");
	refuse("1e4294967296", -ERANGE, "out of range"); /* 1 there: cut to 32 bits */
	refuse("1234567890123456789012345678901234567", -ERANGE, "36 digits");
	refuse("1000000000000000000000000000000000000E", -ERANGE, "36 digits");
	refuse("0000000000000000000000000000000000000000000000000000000000000000", -EINVAL,
	       "'00000000000000000000...' is longer than the 63 characters");
}

static void long_texts_are_exact(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"0.00000000000000000000000000000000000000000000000000000000001", "1n"},
		{"0.99999999999999999999999999999999999999999999999999999999999", "1"},
		{"0.9999999999999999999999999999999999999999999999999999999999Ki", "1Ki"},
		{"7.9999999999999999999999999999999999999999999999999999999999Ei",
		 "9223372036854775807"},
		{"999999999999999999999999999999999999", "999999999999999999999999999999999999"},
		{"1e2147483647", "10e2147483646"},
		{"1e-2147483648", "1e-9"},
		{"999999999999999999999999999999999999999999999999999999999999Ei",
		 "9223372036854775807"},
		{"1000E", "1000E"},
		{"0.9765625Ki", "1k"}, /* 1000: below 1024 binary ones are written as decimal */
		{"1023.5", "1023500m"},
		{"1024Ki", "1Mi"},
		{"10000000000000000000000000000000E", "10000000000000000000000000000000E"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[QUANTITY_TEXT_MAX];
		struct quantity q;

		assert_int_equal(quantity_parse(cases[i].in, &q, NULL), 0);
		assert_string_equal(quantity_recompute(&q, text), cases[i].out);
	}
}

static void order_is_that_of_the_numbers(void **state)
{
	static const char *const ascending[] = {
		"-1e2147483647",
		"-9E",
		"-1Ki",
		"-1",
		"-1n",
		"0",
		"1n",
		"999u",
		"1m",
		"0.999",
		"1",
		"1.000000001",
		"1k",
		"1Ki",
		"1M",
		"1Mi",
		"1Gi",
		"8E",
		"9223372036854775807",
		"9223372036854775808",
		"999999999999999999999999999999999999",
		"1e36",
		"1e2147483647",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ascending); i++)
		for (size_t j = 0; j < ARRAY_SIZE(ascending); j++) {
			struct quantity a, b;
			int want = (i > j) - (i < j), got;

			assert_int_equal(quantity_parse(ascending[i], &a, NULL), 0);
			assert_int_equal(quantity_parse(ascending[j], &b, NULL), 0);
			got = quantity_cmp(&a, &b);
			if ((got > 0) - (got < 0) != want)
				fail_msg("%s and %s: %d", ascending[i], ascending[j], got);
		}
}

static void equal_numbers_are_equal_whatever_their_text(void **state)
{
	struct quantity a, b;

	(void)state;
	quantity_parse("1.5Gi", &a, NULL);
	quantity_parse("1610612736000m", &b, NULL);
	assert_int_equal(quantity_cmp(&a, &b), 0);
	quantity_parse("-0", &a, NULL);
	quantity_parse("0Gi", &b, NULL);
	assert_int_equal(quantity_cmp(&a, &b), 0);
}

static void manifests_give_bytes_and_cpus(void **state)
{
	static const struct {
		const char *json;
		int code;
		uint64_t bytes, milli;
	} cases[] = {
		{"\"64Mi\"", 0, 67108864, 67108864000},
		{"\"2780Gi\"", 0, 2985002270720, 2985002270720000},
		{"\" 1.5Gi \"", 0, 1610612736, 1610612736000},
		{"2000000000", 0, 2000000000, 2000000000000},
		{"0.1", 0, 1, 100},
		{"1.5", 0, 2, 1500},
		{"\"0.1Ki\"", 0, 103, 102400},
		{"1e-7", 0, 1, 1},
		{"0", 0, 0, 0},
		{"\"-1\"", -EINVAL, 0, 0},
		{"-1", -EINVAL, 0, 0},
		{"true", -EINVAL, 0, 0},
		{"null", -EINVAL, 0, 0},
		{"[\"1\"]", -EINVAL, 0, 0},
		{"\"1\\t\"", -EINVAL, 0, 0},
		{"\"10E\"", -ERANGE, 0, 0},
		{"1e30", -ERANGE, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_json_ json_t *v = json_loads(cases[i].json, JSON_DECODE_ANY, NULL);
		uint64_t bytes = 0, milli = 0;
		struct err err = {};

		assert_non_null(v);
		if (quantity_bytes(v, &bytes, &err) != cases[i].code || bytes != cases[i].bytes ||
		    quantity_cpus_milli(v, &milli, NULL) != cases[i].code ||
		    milli != cases[i].milli || !*err.msg != !cases[i].code)
			fail_msg("%s: %llu, %llu, '%s'", cases[i].json, (unsigned long long)bytes,
				 (unsigned long long)milli, err.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_agree),
		cmocka_unit_test(refusals_say_what_is_right),
		cmocka_unit_test(long_texts_are_exact),
		cmocka_unit_test(order_is_that_of_the_numbers),
		cmocka_unit_test(equal_numbers_are_equal_whatever_their_text),
		cmocka_unit_test(manifests_give_bytes_and_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
