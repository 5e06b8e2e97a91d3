// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "api/names.h"
#include "tests/unit/oracle.h"

typedef int check_fn(const char *name, struct err *err);

static check_fn *function_of(const char *kind)
{
	static const struct {
		const char *kind;
		check_fn *fn;
	} kinds[] = {
		{"dns1123label", name_dns1123_label}, {"dns1123subdomain", name_dns1123_subdomain},
		{"dns1035label", name_dns1035_label}, {"qualifiedname", name_qualified},
		{"labelvalue", name_label_value},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_eq(kind, kinds[i].kind))
			return kinds[i].fn;
	fail_msg("kind '%s'?", kind);
	return NULL;
}

static bool check_vector(const json_t *vector)
{
	check_fn *fn = function_of(json_str(vector, "kind"));
	struct err err = {};
	int r = fn(json_str(vector, "in"), &err);

	/* a verdict and its message belong together, on one line */
	if ((r < 0) != (err.msg[0] != 0) || strchr(err.msg, '\n'))
		return false;
	return json_flag(vector, "ok", r < 0) == (r == 0);
}

static void vectors_agree(void **state)
{
	size_t n;

	(void)state;
	oracle_run("kubernetes/names.jsonl", "names", check_vector, &n);
	assert_int_equal(n, 85);
}

static void messages_name_place_and_cure(void **state)
{
	static const struct {
		check_fn *fn;
		const char *name, *msg;
	} cases[] = {
		{name_dns1123_label, "",
		 "the name is empty; it must begin with a lower-case letter or digit"},
		{name_dns1123_label, "a_b",
		 "'a_b': '_' at character 2 is not allowed; lower-case letters, digits and '-' "
		 "are"},
		{name_dns1123_label, "Vm",
		 "'Vm': 'V' at character 1 is not allowed; lower-case letters, digits and '-' are"},
		{name_dns1123_label, "vm-",
		 "'vm-': '-' at character 3 can't stand last; a lower-case letter or digit must"},
		{name_dns1035_label, "1a",
		 "'1a': '1' at character 1 can't stand first; a lower-case letter must"},
		{name_dns1123_label, "a\n",
		 "'a?': byte 0x0a at character 2 is not allowed; lower-case letters, digits and "
		 "'-' are"},
		{name_dns1123_subdomain, "a..b",
		 "'a..b': nothing is before the '.' at character 3; a lower-case letter or digit "
		 "must"},
		{name_dns1123_subdomain, ".a",
		 "'.a': nothing is before the '.' at character 1; a lower-case letter or digit "
		 "must"},
		{name_dns1123_subdomain, "a.",
		 "'a.': nothing follows the '.' at character 2; a lower-case letter or digit must"},
		{name_dns1123_subdomain, "a.b-.c",
		 "'a.b-.c': '-' at character 4 can't stand last; a lower-case letter or digit "
		 "must"},
		{name_qualified, "/x",
		 "the prefix before '/' is empty; it must begin with a lower-case letter or digit"},
		{name_qualified, "x/",
		 "the name after '/' is empty; it must begin with a letter or digit"},
		{name_qualified, "a/b/c",
		 "'a/b/c': '/' at character 4 is not allowed; letters, digits, '-', '_' and '.' "
		 "are"},
		{name_qualified, "X.io/b",
		 "'X.io/b': 'X' at character 1 is not allowed; lower-case letters, digits and '-' "
		 "are"},
		{name_qualified, "a./b",
		 "'a./b': nothing follows the '.' at character 2; a lower-case letter or digit "
		 "must"},
		{name_label_value, "_x",
		 "'_x': '_' at character 1 can't stand first; a letter or digit must"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = {};

		assert_int_equal(cases[i].fn(cases[i].name, &err), -EINVAL);
		assert_string_equal(err.msg, cases[i].msg);
	}
}

static void lengths_have_limits(void **state)
{
	char name[300];
	struct err err = {};

	(void)state;
	memset(name, 'a', sizeof name);
	name[64] = 0;
	assert_int_equal(name_dns1123_label(name + 1, NULL), 0);
	assert_int_equal(name_label_value(name + 1, NULL), 0);
	assert_int_equal(name_qualified(name + 1, NULL), 0);
	assert_int_equal(name_label_value(name, NULL), -EINVAL);
	assert_int_equal(name_qualified(name, NULL), -EINVAL);
	assert_int_equal(name_dns1123_label(name, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "is 64 bytes long; at most 63"));
	name[64] = 'a';
	name[254] = 0;
	assert_int_equal(name_dns1123_subdomain(name + 1, NULL), 0);
	assert_int_equal(name_dns1123_subdomain(name, NULL), -EINVAL);
	memcpy(name + 254, "/b", 3);
	assert_int_equal(name_qualified(name + 1, NULL), 0);
	assert_int_equal(name_qualified(name, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_agree),
		cmocka_unit_test(messages_name_place_and_cure),
		cmocka_unit_test(lengths_have_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
