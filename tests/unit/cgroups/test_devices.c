// SPDX-License-Identifier: Apache-2.0
/* The allowlist's text form and its comparison with what the kernel lists; pure. */
#include "tests/unit/unit.h"

#include "cgroups/devices.h"

#include <errno.h>
#include <string.h>

static void test_check(void **state)
{
	const struct cgroup_device good[] = {
		{'c', 1, 3, false, "rwm"},
		{'b', 4095, 1048575, false, "m"},
		{'c', 136, 4000000, true, "r"},
	};
	const struct cgroup_device bad[] = {
		{'a', 1, 3, false, "rwm"},     {'c', 4096, 3, false, "rwm"},
		{'c', 1, 1 << 20, false, "r"}, {'c', 1, 3, false, ""},
		{'c', 1, 3, false, "rwmr"},    {'c', 1, 3, false, "r w"},
		{'c', 1, 3, false, NULL},      {0, 1, 3, false, "r"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_int_equal(devices_check(&good[i], NULL), 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err err = {0};

		assert_int_equal(devices_check(&bad[i], &err), -EINVAL);
		assert_non_null(strstr(err.msg, "device"));
	}
}

static void test_format(void **state)
{
	const struct cgroup_device kvm = {'c', 10, 232, false, "mwr"};
	const struct cgroup_device pts = {'c', 136, 7, true, "r"};
	const struct cgroup_device longest = {'b', 4294967295U, 4294967295U, false, "rwm"};
	char line[DEVICES_LINE_MAX];

	(void)state;
	devices_format(&kvm, line);
	assert_string_equal(line, "c 10:232 rwm");
	devices_format(&pts, line);
	assert_string_equal(line, "c 136:* r");
	devices_format(&longest, line);
	assert_string_equal(line, "b 4294967295:4294967295 rwm");
}

static void test_compare(void **state)
{
	const struct cgroup_device list[] = {
		{'c', 1, 3, false, "r"},
		{'c', 10, 232, false, "rwm"},
		{'c', 1, 3, false, "wr"},
		{'c', 1, 0, true, "m"},
	};
	struct err err = {0};

	(void)state;
	assert_int_equal(devices_compare("", NULL, 0, NULL), 0);
	assert_int_equal(devices_compare("c 1:3 rw\nc 10:232 rwm\nc 1:* m", list, 4, NULL), 0);
	assert_int_equal(devices_compare("c 1:* m\nc 10:232 rwm\nc 1:3 rw\n", list, 4, NULL), 0);
	/* less, more, other, everything */
	assert_int_equal(devices_compare("c 1:3 rw\nc 1:* m", list, 4, &err), -EIO);
	assert_non_null(strstr(err.msg, "c 10:232 rwm"));
	assert_int_equal(devices_compare("c 1:3 rw\nc 10:232 rwm\nc 1:* m\nb 8:0 r", list, 4, NULL),
			 -EIO);
	assert_int_equal(devices_compare("c 1:3 rwm\nc 10:232 rwm\nc 1:* m", list, 4, NULL), -EIO);
	assert_int_equal(devices_compare("a *:* rwm", list, 4, NULL), -EIO);
	assert_int_equal(devices_compare("a *:* rwm", NULL, 0, NULL), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
