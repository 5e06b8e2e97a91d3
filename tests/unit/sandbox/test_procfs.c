// SPDX-License-Identifier: Apache-2.0
/* The parsers of /proc texts: pure, over what a hostile process can put into them. */
#include "tests/unit/unit.h"

#include "lib/json.h"
#include "sandbox/mountinfo.h"
#include "sandbox/procfs.h"
#include "sandbox/status.h"

#include <errno.h>
#include <string.h>

static const char status[] = "Name:\tCapEff: x\n"
			     "Uid:\t1\t2\t3\t4\n"
			     "Groups:\t \n"
			     "NSpid:\t31442\t4\n"
			     "CapEff:\t00000000a80425fb\n"
			     "Seccomp:\t2\n";

static void status_fields(void **state)
{
	char value[32];

	(void)state;
	assert_int_equal(status_field(status, "CapEff", value, sizeof value), 0);
	assert_string_equal(value, "00000000a80425fb"); /* not the process's own name */
	assert_int_equal(status_field(status, "Groups", value, sizeof value), 0);
	assert_string_equal(value, "");
	assert_int_equal(status_field(status, "Name", value, sizeof value), 0);
	assert_string_equal(value, "CapEff: x");
	assert_int_equal(status_field(status, "Seccomp", value, sizeof value), 0);
	assert_string_equal(value, "2");
	assert_int_equal(status_field(status, "Sec", value, sizeof value), -ENOENT);
	assert_int_equal(status_field(status, "CapEff", value, 16), -ENOSPC);
	assert_int_equal(status_field("", "CapEff", value, sizeof value), -ENOENT);
}

static void assert_json(json_t *json_consume, const char *wanted)
{
	_cleanup_free_ char *text =
		json_dumps(json_consume, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

	json_decref(json_consume);
	assert_string_equal(text, wanted);
}

static void numbers_and_text(void **state)
{
	(void)state;
	assert_json(procfs_numbers(status, "Uid"), "[1,2,3,4]");
	assert_json(procfs_numbers(status, "NSpid"), "[31442,4]");
	assert_json(procfs_numbers(status, "Groups"), "[]");
	assert_json(procfs_numbers(status, "Nothing"), "[]");
	assert_json(procfs_field(status, "Nothing"), "null");
	assert_json(procfs_text("plain"), "\"plain\"");
	assert_json(procfs_text("\xc3\xa4"), "\"\xc3\xa4\"");
	assert_json(procfs_text("a\xff\x80z"), "\"a?z\"");
	assert_json(procfs_text("a\n\033[1mz"), "\"a??[1mz\"");
	assert_json(procfs_text("\u00e4\xc2\x9b"
				"1m"),
		    "\"\u00e4?1m\"");
	assert_json(procfs_map("       107     200107          1\n"),
		    "[{\"count\":1,\"inside\":107,\"outside\":200107}]");
	assert_json(procfs_map("0 0 4294967295\n1 2 3\n"),
		    "[{\"count\":4294967295,\"inside\":0,\"outside\":0},"
		    "{\"count\":3,\"inside\":1,\"outside\":2}]");
	assert_json(procfs_map(""), "[]");
}

static void mountinfo_lines(void **state)
{
	char text[] =
		"36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:2 - ext3 /dev/r rw,e\n"
		"37 35 0:5 / / ro - tmpfs none rw\n";
	char broken[] = "36 35 98:0 /mnt1 - ext3 /dev/r rw\n", no_tail[] = "1 2 3:4 / / rw\n";
	struct mountinfo m;
	char *next = text;

	(void)state;
	assert_int_equal(mountinfo_next(&next, &m), 1);
	assert_string_equal(m.root, "/mnt1");
	assert_string_equal(m.point, "/mnt\\0402");
	assert_string_equal(m.options, "rw,noatime");
	assert_string_equal(m.fs, "ext3");
	assert_string_equal(m.source, "/dev/r");
	assert_string_equal(m.super_options, "rw,e");
	assert_int_equal(mountinfo_next(&next, &m), 1);
	assert_string_equal(m.point, "/");
	assert_int_equal(mountinfo_next(&next, &m), 0);
	next = broken;
	assert_int_equal(mountinfo_next(&next, &m), -EBADMSG);
	next = no_tail;
	assert_int_equal(mountinfo_next(&next, &m), -EBADMSG);
}

/* The mounts of this test are a whole host's: no pod's list can fit them. */
static void mountinfo_finds_strangers(void **state)
{
	static const struct mountinfo_rule root_only[] = {{"/", "", .below = false}};
	static const struct mountinfo_rule wrong_option[] = {{"/", "nosuch", .below = true},
							     {"", "", .below = true}};
	static const struct mountinfo_rule any[] = {{"", "", .below = true}};
	struct err err = {0};

	(void)state;
	assert_int_equal(mountinfo_verify(root_only, 1, &err), -EPERM);
	assert_non_null(strstr(err.msg, "must not be visible"));
	err_clear(&err);
	assert_int_equal(mountinfo_verify(wrong_option, 2, &err), -EPERM);
	assert_non_null(strstr(err.msg, "must have nosuch"));
	err_clear(&err);
	assert_int_equal(mountinfo_verify(any, 1, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_fields),
		cmocka_unit_test(numbers_and_text),
		cmocka_unit_test(mountinfo_lines),
		cmocka_unit_test(mountinfo_finds_strangers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
