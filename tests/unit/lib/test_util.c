// SPDX-License-Identifier: Apache-2.0
/* Words of lists as the kernel writes them; strangers' text in messages. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "lib/err.h"
#include "lib/json.h"
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

static void test_line(void **state)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{"", ""},
		{"a\nb\tc\x7f", "a_b_c_"},
		{"\u00fc \u20ac \U0001f600", "\u00fc \u20ac \U0001f600"},
		{"\x1b[2J \xc2\x9b"
		 "2J",
		 "_[2J _2J"},		   /* both ways to begin a terminal code */
		{"\u00fc\xc3", "\u00fc?"}, /* cut */
		{"a\xe2\x82"
		 "b",
		 "a?b"},
		{"\xff\xfe|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80", "??|?|?|?"},
		{"\x80\x80x", "?x"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = xstrdup(cases[i].from);

		str_line(text, '_');
		assert_string_equal(text, cases[i].to);
	}
}

/* Cut into parts of any size, the same comes out; lines stay, and nothing that a terminal obeys. */
static void test_stream(void **state)
{
	static const char from[] = "\u00fc\u20ac\U0001f600\r\n\ta\x1b[2J\xc2\x9b"
				   "2J \x9b"
				   "2J \xe2\x9b"
				   "x \xf4\x90\x80\x80\x85 \xc3\xc3\xc2\x84\0\x7f\xe2\x82";
	static const char to[] = "\u00fc\u20ac\U0001f600\r\n\ta?[2J?2J ?2J ?x ? ????"
				 "?";

	(void)state;
	for (size_t part = 1; part <= sizeof from; part++) {
		struct str_stream s = {0};
		char got[sizeof from + STR_STREAM_MORE] = "";
		size_t n = 0;

		for (size_t at = 0; at < sizeof from - 1; at += part) {
			size_t len = sizeof from - 1 - at < part ? sizeof from - 1 - at : part;
			_cleanup_free_ char *room = xcalloc(len + STR_STREAM_MORE, 1);
			size_t put = str_stream(&s, from + at, len, room);

			memcpy(got + n, room, put);
			n += put;
		}
		assert_string_equal(got, to);
		assert_int_equal(s.n, 2);
	}
}

/* An error is cut at any byte, and stays text that JSON can hold. */
static void test_errors_are_cut_between_letters(void **state)
{
	struct err err = {0};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		_cleanup_free_ char *text = xcalloc(ERR_MSG_MAX + 8, 1);

		for (size_t k = 0; k < ERR_MSG_MAX / 2; k++)
			memcpy(text + i + 2 * k, "\u00fc", 2);
		memset(text, 'x', i);
		err_clear(&err);
		(void)err_set(&err, -EINVAL, "%s", text);
		err_prefix(&err, "%.*s", (int)i, "abc");
		_cleanup_json_ json_t *json = json_string(err.msg);

		assert_non_null(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_errors_are_cut_between_letters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
