// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "lib/util.h"
#include "sandbox/dev.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static void assert_node(int dir, const char *name, unsigned major, unsigned minor, mode_t mode,
			uid_t uid)
{
	struct stat st;

	assert_int_equal(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode, S_IFCHR | mode);
	assert_int_equal(st.st_rdev, makedev(major, minor));
	assert_int_equal(st.st_uid, uid);
	assert_int_equal(st.st_gid, uid ? 4321 : 0);
}

static void nodes_whatever_the_umask(void **state)
{
	static const struct sandbox_node kvm = {"kvm", 10, 232};
	_cleanup_fd_ int dev = -1;
	struct err err = {0};
	struct statvfs fs;
	mode_t mask = umask(0177);
	int r = sandbox_dev_create(1234, 4321, &kvm, 1, &dev, &err);

	(void)state;
	(void)umask(mask);
	assert_int_equal(r, 0);
	assert_node(dev, "null", 1, 3, 0666, 0);
	assert_node(dev, "zero", 1, 5, 0666, 0);
	assert_node(dev, "full", 1, 7, 0666, 0);
	assert_node(dev, "random", 1, 8, 0666, 0);
	assert_node(dev, "urandom", 1, 9, 0666, 0);
	assert_node(dev, "kvm", 10, 232, 0600, 1234);
	assert_int_equal(fstatvfs(dev, &fs), 0);
	assert_true(fs.f_flag & ST_RDONLY);
	assert_true(fs.f_flag & ST_NOSUID);
	assert_true(fs.f_flag & ST_NOEXEC);
	assert_false(fs.f_flag & ST_NODEV);
	assert_true(fs.f_files <= 64);
	assert_true(fs.f_blocks * fs.f_frsize <= 4096);
	assert_int_equal(mkdirat(dev, "x", 0755), -1);
	assert_int_equal(errno, EROFS);
}

static void odd_names_are_refused(void **state)
{
	static const char *const odd[] = {"", ".", "..", "../x", "net/tun", "/x", ".x", "null"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		struct sandbox_node node = {odd[i], 1, 3};
		struct err err = {0};
		int dev = -1;

		assert_true(sandbox_dev_create(1, 1, &node, 1, &dev, &err) < 0);
		assert_int_equal(dev, -1);
		assert_non_null(strstr(err.msg, "sandbox: "));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_whatever_the_umask),
		cmocka_unit_test(odd_names_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
