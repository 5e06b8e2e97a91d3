// SPDX-License-Identifier: Apache-2.0
/* Words of lists as the kernel writes them; texts of strangers in messages. */
#include "tests/unit/unit.h"

#include "lib/err.h"

#include "lib/util.h"

#include <errno.h>

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

static void test_one_line(void **state)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
		{"", ""},
		{"plain ~ text", "plain ~ text"},
		{"a\nb\tc\033[31m\177", "a?b?c?[31m?"},
		{"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
		 "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
		{"\xc2\x9b"
		 "31m \xc2\xa0.",
		 "??31m \xc2\xa0."},			       /* C1's CSI; a blank that is none */
		{"cut \xe2\x82", "cut ??"},		       /* in the middle of a letter */
		{"\xff\x80\xc0\x80\xed\xa0\x80.", "???????."}, /* none, too long, a surrogate */
		{"\xf4\x90\x80\x80", "????"},		       /* beyond U+10FFFF */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = xstrdup(cases[i].text);

		str_one_line(text);
		assert_string_equal(text, cases[i].shown);
	}
}

static void test_errors_are_one_line(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(err_set(&err, -EINVAL, "'%.3s'", "a\xe2\x82\xac"), -EINVAL);
	assert_string_equal(err.msg, "'a?\?'");
	err_prefix(&err, "%s", "x\ny");
	assert_string_equal(err.msg, "x?y: 'a?\?'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_errors_are_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
