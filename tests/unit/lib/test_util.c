// SPDX-License-Identifier: Apache-2.0
/* Words of lists as the kernel writes them. */
#include "tests/unit/unit.h"

#include "lib/util.h"

static void test_words(void **state)
{
	(void)state;
	assert_true(str_has_word("cpuset cpu io memory pids", "cpu"));
	assert_true(str_has_word("cpuset", "cpuset"));
	assert_true(str_has_word(" a\nb \n", "b"));
	assert_false(str_has_word("cpuset io", "cpu"));
	assert_false(str_has_word("mycpu", "cpu"));
	assert_false(str_has_word("", "cpu"));
	assert_false(str_has_word("  ", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_words)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
