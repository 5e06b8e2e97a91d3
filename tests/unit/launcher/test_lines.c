// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "launcher/lines.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>

struct seen {
	char text[256];
	size_t n;
	int fail_at; /* 1-based; 0: never */
};

static int on_line(void *arg, char *line, size_t len)
{
	struct seen *s = arg;

	assert_int_equal(strlen(line), len);
	(void)snprintf(s->text + strlen(s->text), sizeof s->text - strlen(s->text), "[%s]", line);
	return ++s->n == (size_t)s->fail_at ? -EBADMSG : 0;
}

/* However the bytes are cut into pieces, the lines are the same. */
static void test_any_split(void **state)
{
	static const char text[] = "one\r\ntwo\n\n\r\nthree and a bit\nlast";
	size_t len = sizeof text - 1;

	(void)state;
	for (size_t a = 0; a <= len; a++) {
		for (size_t b = a; b <= len; b++) {
			struct lines l = {.max = 100};
			struct seen s = {0};

			assert_int_equal(lines_feed(&l, text, a, on_line, &s), 0);
			assert_int_equal(lines_feed(&l, text + a, b - a, on_line, &s), 0);
			assert_int_equal(lines_feed(&l, text + b, len - b, on_line, &s), 0);
			assert_string_equal(s.text, "[one][two][three and a bit]");
			lines_done(&l);
		}
	}
}

static void test_bound(void **state)
{
	struct lines l = {.max = 4};
	struct seen s = {0};

	(void)state;
	assert_int_equal(lines_feed(&l, "1234\n12", 7, on_line, &s), 0);
	assert_int_equal(lines_feed(&l, "345", 3, on_line, &s), -EMSGSIZE);
	assert_string_equal(s.text, "[1234]");
	lines_done(&l);
}

static void test_callback_stops(void **state)
{
	struct lines l = {.max = 10};
	struct seen s = {.fail_at = 2};

	(void)state;
	assert_int_equal(lines_feed(&l, "a\nb\nc\n", 6, on_line, &s), -EBADMSG);
	assert_string_equal(s.text, "[a][b]");
	lines_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_split),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_callback_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
