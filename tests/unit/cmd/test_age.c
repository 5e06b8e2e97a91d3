// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "cmd/age.h"

static void test_text(void **state)
{
	/* both sides of every limit of the rule */
	static const struct {
		long long seconds;
		const char *text;
	} cases[] = {
		{-5, "0s"},
		{0, "0s"},
		{119, "119s"},
		{120, "2m"},
		{121, "2m1s"},
		{599, "9m59s"},
		{600, "10m"},
		{10799, "179m"},
		{10800, "3h"},
		{12000, "3h20m"},
		{28799, "7h59m"},
		{28800, "8h"},
		{172799, "47h"},
		{172800, "2d"},
		{187200, "2d4h"},
		{691199, "7d23h"},
		{691200, "8d"},
		{729LL * 86400, "729d"},
		{730LL * 86400, "2y"},
		{1105LL * 86400, "3y10d"},
		{2919LL * 86400, "7y364d"},
		{2920LL * 86400, "8y"},
		/* beyond these the smaller unit no longer counts */
		{601, "10m"},
		{28860, "8h"},
		{694800, "8d"},
		{2921LL * 86400, "8y"},
	};
	char buf[AGE_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_string_equal(age_text(cases[i].seconds, buf), cases[i].text);
}

static void test_since(void **state)
{
	char buf[AGE_MAX];

	(void)state;
	/* date -u -d 2026-11-30T15:04:05Z +%s */
	assert_string_equal(age_since("2026-11-30T15:04:05Z", 1796051045 + 61, buf), "61s");
	assert_string_equal(age_since("2026-11-30T15:04:05Z", 1796051045 - 61, buf), "0s");
	assert_string_equal(age_since(NULL, 0, buf), "<unknown>");
	assert_string_equal(age_since("yesterday", 0, buf), "<unknown>");
	assert_string_equal(age_since("2026-11-30T15:04:05Zz", 0, buf), "<unknown>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_since),
	};

	return cmocka_run_group_tests_name("age", tests, NULL, NULL);
}
