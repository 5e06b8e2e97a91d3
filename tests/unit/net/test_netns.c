// SPDX-License-Identifier: Apache-2.0
#include "net/netns.h"

#include "tests/unit/net/lab.h"

#include <linux/nsfs.h>
#include <sys/ioctl.h>

static int my_ino(void *arg)
{
	*(ino_t *)arg = lab_here();
	return 7;
}

static ino_t fd_ino(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

static void made_pinned_and_gone(void **state)
{
	_cleanup_fd_ int made = -1, opened = -1, owner = -1;
	ino_t home = lab_here(), owner_ino;
	struct err err = {0};
	struct stat st;
	json_t *links;

	(void)state;
	assert_ok(&err, netns_create(lab_dir, "pod", &made, &err));
	assert_int_equal(lab_here(), home);
	assert_int_not_equal(fd_ino(made), home);
	assert_int_equal(fcntl(made, F_GETFD), FD_CLOEXEC);

	owner = ioctl(made, NS_GET_USERNS);
	assert_true(owner >= 0);
	owner_ino = fd_ino(owner);
	assert_int_equal(stat("/proc/self/ns/user", &st), 0);
	assert_int_equal(owner_ino, st.st_ino);

	links = lab_links(made);
	assert_int_equal(json_array_size(links), 1);
	lab_expect(links, "lo", "{'up':true,'mac':'00:00:00:00:00:00','kind':''}");
	json_decref(links);

	assert_ok(&err, netns_open(lab_dir, "pod", &opened, &err));
	assert_int_equal(fd_ino(opened), fd_ino(made));

	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
	assert_int_equal(faccessat(lab_dir, "pod", F_OK, 0), -1);
	assert_ok(&err, netns_destroy(lab_dir, "pod", &err)); /* again */
}

static void taken_name(void **state)
{
	_cleanup_fd_ int a = -1;
	struct err err = {0};
	int b = -5;

	(void)state;
	assert_ok(&err, netns_create(lab_dir, "pod", &a, &err));
	assert_refused(-EEXIST, "'pod'", &err, netns_create(lab_dir, "pod", &b, &err));
	assert_int_equal(b, -5);
	/* the refusal left the first one alone */
	assert_ok(&err, netns_open(lab_dir, "pod", &b, &err));
	assert_int_equal(fd_ino(a), fd_ino(b));
	(void)fd_close(b);
	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
}

static void half_made(void **state)
{
	_cleanup_fd_ int file = openat(lab_dir, "pod", O_CREAT | O_RDONLY | O_CLOEXEC, 0400);
	_cleanup_fd_ int fd = -1;
	struct err err = {0};

	(void)state;
	assert_true(file >= 0);
	assert_refused(-ESTALE, "leftover", &err, netns_open(lab_dir, "pod", &fd, &err));
	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
	assert_refused(-ENOENT, "'pod'", &err, netns_open(lab_dir, "pod", &fd, &err));
	assert_ok(&err, netns_create(lab_dir, "pod", &fd, &err));
	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
}

/* a user that still is inside neither keeps the name nor is disturbed */
static void destroyed_while_in_use(void **state)
{
	_cleanup_fd_ int fd = -1;
	struct err err = {0};
	ino_t there = 0;

	(void)state;
	assert_ok(&err, netns_create(lab_dir, "pod", &fd, &err));
	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
	assert_int_equal(netns_call(fd, my_ino, &there, &err), 7);
	assert_int_equal(there, fd_ino(fd));
}

static void other_namespaces_and_files_refused(void **state)
{
	struct err err = {0};
	int fd = -1;

	(void)state;
	assert_int_equal(mknodat(lab_dir, "uts", S_IFREG | 0400, 0), 0);
	assert_int_equal(mount("/proc/self/ns/uts", "/mnt/uts", NULL, MS_BIND, NULL), 0);
	assert_refused(-ESTALE, "'uts'", &err, netns_open(lab_dir, "uts", &fd, &err));
	assert_ok(&err, netns_destroy(lab_dir, "uts", &err));
	assert_int_equal(symlinkat("/proc/self/ns/net", lab_dir, "link"), 0);
	assert_refused(-ELOOP, "'link'", &err, netns_open(lab_dir, "link", &fd, &err));
	assert_refused(-EEXIST, "'link'", &err, netns_create(lab_dir, "link", &fd, &err));
	assert_int_equal(unlinkat(lab_dir, "link", 0), 0);
	assert_refused(-EINVAL, "slash", &err, netns_create(lab_dir, "a/b", &fd, &err));
	assert_refused(-EINVAL, "slash", &err, netns_destroy(lab_dir, "..", &err));
	assert_refused(-EINVAL, "slash", &err, netns_open(lab_dir, "", &fd, &err));
}

static void call_comes_home(void **state)
{
	_cleanup_fd_ int fd = -1, null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ino_t home = lab_here(), there = 0;
	struct err err = {0};

	(void)state;
	assert_ok(&err, netns_create(lab_dir, "pod", &fd, &err));
	assert_int_equal(netns_call(fd, my_ino, &there, &err), 7);
	assert_int_equal(there, fd_ino(fd));
	assert_int_equal(lab_here(), home);
	there = 0;
	assert_int_equal(netns_call(-1, my_ino, &there, &err), 7);
	assert_int_equal(there, home);
	there = 0;
	assert_refused(-EINVAL, "namespace", &err, netns_call(null, my_ino, &there, &err));
	assert_int_equal(there, 0);
	assert_int_equal(lab_here(), home);
	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_pinned_and_gone),
		cmocka_unit_test(taken_name),
		cmocka_unit_test(half_made),
		cmocka_unit_test(destroyed_while_in_use),
		cmocka_unit_test(other_namespaces_and_files_refused),
		cmocka_unit_test(call_comes_home),
	};

	return cmocka_run_group_tests(tests, lab_enter, lab_leave);
}
