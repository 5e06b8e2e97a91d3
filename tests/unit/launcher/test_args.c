// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "launcher/args.h"

#include <string.h>

static void test_vector(void **state)
{
	_cleanup_args_ struct args a = {0};

	(void)state;
	args_add(&a, "-name");
	args_addf(&a, "guest=%s", "x");
	args_opt(&a, "debug-threads", "on");
	args_opt(&a, NULL, "%s", "a,b");
	assert_int_equal(a.n, 2);
	assert_string_equal(a.v[1], "guest=x,debug-threads=on,a,,b");
	assert_null(a.v[2]);
}

/* QEMU's own reading of an option: up to a single comma; two commas are one that belongs to the value. */
static char *read_value(const char **p)
{
	char *out = xcalloc(1, strlen(*p) + 1), *o = out;

	for (; **p; (*p)++) {
		if (**p == ',') {
			if ((*p)[1] != ',')
				break;
			(*p)++;
		}
		*o++ = **p;
	}
	if (**p == ',')
		(*p)++;
	return out;
}

/* Whatever the value holds, QEMU reads that value back, and the key behind it is still the next one. */
static void test_no_value_escapes(void **state)
{
	static const char alphabet[] = ",,,==a-\"'\\ \n\t:{}$";
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		_cleanup_args_ struct args a = {0};
		_cleanup_free_ char *value = NULL, *next = NULL;
		const char *p;
		char text[17];
		size_t n = (size_t)round % 17;

		for (size_t i = 0; i < n; i++) {
			seed = seed * 1664525u + 1013904223u;
			text[i] = alphabet[(seed >> 16) % (sizeof alphabet - 1)];
		}
		text[n] = 0;
		args_add(&a, "dev");
		args_opt(&a, "serial", "%s", text);
		args_opt(&a, "id", "last");
		p = str_after(a.v[0], "dev,serial=");
		assert_non_null(p);
		value = read_value(&p);
		assert_string_equal(value, text);
		next = read_value(&p);
		assert_string_equal(next, "id=last");
		assert_int_equal(*p, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vector),
		cmocka_unit_test(test_no_value_escapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
