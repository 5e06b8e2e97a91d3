// SPDX-License-Identifier: Apache-2.0
/* Finding hierarchies in the text of mountinfo; pure. */
#include "tests/unit/unit.h"

#include "cgroups/mounts.h"

#include <errno.h>
#include <string.h>

static struct mount_entry m;

static const char hybrid[] =
	"23 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
	"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
	"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 master:1 - cgroup cgroup "
	"rw,cpu,cpuacct\n"
	"34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
	"40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
	"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n";

static void test_hybrid(void **state)
{
	(void)state;
	assert_int_equal(mounts_find(hybrid, "cpuset", &m), 0);
	assert_string_equal(m.path, "/sys/fs/cgroup/cpuset");
	assert_string_equal(m.root, "/");
	assert_int_equal(m.minor, 31);
	assert_int_equal(mounts_find(hybrid, "cpuacct", &m), 0);
	assert_string_equal(m.path, "/sys/fs/cgroup/cpu,cpuacct");
	assert_int_equal(mounts_find(hybrid, NULL, &m), 0);
	assert_string_equal(m.path, "/sys/fs/cgroup/unified");
}

static void test_absent(void **state)
{
	(void)state;
	memset(&m, 0x55, sizeof m);
	assert_int_equal(mounts_find(hybrid, "memory", &m), -ENOENT);
	assert_int_equal(mounts_find(hybrid, "cpuse", &m), -ENOENT);
	assert_int_equal(mounts_find(hybrid, "systemd", &m), -ENOENT);
	assert_int_equal(mounts_find("", "cpu", &m), -ENOENT);
	assert_int_equal((unsigned char)m.path[0], 0x55);
}

static void test_whole_hierarchy_wins(void **state)
{
	const char text[] = "1 0 0:31 /docker/x /a rw - cgroup cgroup rw,cpuset\n"
			    "2 0 0:31 / /b rw - cgroup cgroup rw,cpuset\n"
			    "3 0 0:31 / /c rw - cgroup cgroup rw,cpuset\n";

	(void)state;
	assert_int_equal(mounts_find(text, "cpuset", &m), 0);
	assert_string_equal(m.path, "/b");
	assert_int_equal(
		mounts_find("1 0 0:31 /docker/x /a rw - cgroup cgroup rw,cpuset\n", "cpuset", &m),
		0);
	assert_string_equal(m.root, "/docker/x");
}

static void test_escapes(void **state)
{
	(void)state;
	assert_int_equal(
		mounts_find("1 0 0:31 / /a\\040b\\134c rw - cgroup cgroup rw,cpu", "cpu", &m), 0);
	assert_string_equal(m.path, "/a b\\c");
	/* cut in the middle of an escape */
	assert_int_equal(mounts_find("1 0 0:31 / /a\\04 rw - cgroup cgroup rw,cpu", "cpu", &m), 0);
	assert_string_equal(m.path, "/a\\04");
}

static void test_malformed(void **state)
{
	(void)state;
	assert_int_equal(mounts_find("nonsense\n", "cpu", &m), -EINVAL);
	assert_int_equal(mounts_find("1 0 0:31 / /a rw - cgroup\n", "cpu", &m), -EINVAL);
	assert_int_equal(mounts_find("1 0 0:31 / /a rw cgroup cgroup rw,cpu\n", "cpu", &m),
			 -EINVAL);
	assert_int_equal(mounts_find("\n\n", "cpu", &m), -EINVAL);
	assert_int_equal(mounts_find("1 0 x:31 / /a rw - cgroup cgroup rw,cpu\n", "cpu", &m),
			 -EINVAL);
}

/* What only looks like an escape is no reason to do arithmetic on it that C has no answer to. */
static void test_no_escape(void **state)
{
	(void)state;
	assert_int_equal(mounts_find("1 0 0:31 / /a\\!!!b rw - cgroup2 c rw\n", NULL, &m), 0);
	assert_int_equal(strncmp(m.path, "/a", 2), 0);
	assert_int_equal(strlen(m.path), 4);
}

static void test_words(void **state)
{
	(void)state;
	assert_true(mounts_word_in("rw,cpu", 6, "cpu"));
	assert_true(mounts_word_in("cpu,rw", 6, "cpu"));
	assert_false(mounts_word_in("cpuset,xcpu", 11, "cpu"));
	assert_false(mounts_word_in("cpuset", 3, "cpuset"));
	assert_false(mounts_word_in("", 0, "cpu"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hybrid),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_whole_hierarchy_wins),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_no_escape),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
