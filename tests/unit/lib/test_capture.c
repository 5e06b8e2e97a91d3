// SPDX-License-Identifier: Apache-2.0
/* What a program says: all of it, and no more of its time or text than was allowed. */
#include "tests/unit/unit.h"

#include "lib/capture.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#define SH "/bin/sh"

static char *said(const char *script)
{
	char *text = NULL;
	struct err err = {0};

	if (capture_run((const char *const[]){SH, "-c", script, NULL}, 60, 4096, &text, &err) < 0)
		fail_msg("%s", err.msg);
	return text;
}

static void no_child_left(void)
{
	assert_int_equal(waitpid(-1, NULL, 0), -1);
	assert_int_equal(errno, ECHILD);
}

static void refused(const char *script, unsigned seconds, int code, const char *words)
{
	char *text = (char *)1;
	struct err err = {0};

	assert_int_equal(capture_run((const char *const[]){SH, "-c", script, NULL}, seconds, 4096,
				     &text, &err),
			 code);
	if (!strstr(err.msg, words))
		fail_msg("'%s' lacks '%s'", err.msg, words);
	assert_ptr_equal(text, (char *)1);
	no_child_left();
}

static void all_of_it(void **state)
{
	_cleanup_free_ char *both = said("echo out; echo err >&2");
	_cleanup_free_ char *most = said("head -c 4096 /dev/zero | tr '\\0' x");
	_cleanup_free_ char *none = said(":");

	(void)state;
	assert_string_equal(both, "out\nerr\n");
	assert_int_equal(strlen(most), 4096);
	assert_string_equal(none, "");
	no_child_left();
}

/* Nothing of ours but the two: no environment, no input, no descriptor. */
static void its_world(void **state)
{
	_cleanup_free_ char *env = NULL, *input = NULL, *files = NULL;

	(void)state;
	assert_int_equal(setenv("VIRTPOD_SECRET", "x", 1), 0);
	env = said("env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD= | sort | cut -d= -f1");
	input = said("cat; readlink /proc/self/fd/0");
	files = said("ls /proc/self/fd | wc -l"); /* 0 to 2, and ls's own */
	assert_string_equal(env, "LANG\nPATH\n");
	assert_string_equal(input, "/dev/null\n");
	assert_string_equal(files, "4\n");
}

static void too_much(void **state)
{
	(void)state;
	refused("yes", 60, -EFBIG, SH ": its output (at most 4096 bytes in 60 s)");
	refused("head -c 4097 /dev/zero", 60, -EFBIG, "File too large");
}

static void too_long(void **state)
{
	(void)state;
	refused("exec sleep 600", 1, -ETIMEDOUT, "in 1 s");
	refused("exec >/dev/null 2>&1 sleep 600", 1, -ETIMEDOUT, "in 1 s");
}

static void fails(void **state)
{
	(void)state;
	refused("printf 'no\\033 such\\nthing'; exit 3", 60, -EIO, SH ": exit status 3: no? such");
	refused("kill -9 $$", 60, -EIO, "killed by signal 9: no output");
}

static void no_program(void **state)
{
	char *text = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(
		capture_run((const char *const[]){"/nonexistent", NULL}, 60, 10, &text, &err),
		-EIO);
	assert_non_null(strstr(err.msg, "/nonexistent: exit status 127"));
	no_child_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it), cmocka_unit_test(its_world),
		cmocka_unit_test(too_much),  cmocka_unit_test(too_long),
		cmocka_unit_test(fails),     cmocka_unit_test(no_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
