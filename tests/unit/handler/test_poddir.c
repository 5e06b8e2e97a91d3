// SPDX-License-Identifier: Apache-2.0
/* The pod's directory: bounded, private, gone from whatever state a crash left it in. */
#include "tests/unit/handler/lab.h"

#include "handler/poddir.h"

#include <sys/stat.h>
#include <sys/statfs.h>

static int create(struct lab *l)
{
	int fd = -1;

	if (poddir_create(&l->h, UID_A, &fd, &l->err) < 0)
		fail_msg("%s", l->err.msg);
	return fd;
}

static void assert_gone(struct lab *l)
{
	assert_int_equal(faccessat(l->h.paths.run_fd, "pods/" UID_A, F_OK, 0), -1);
	assert_int_equal(errno, ENOENT);
}

static void destroy(struct lab *l)
{
	if (poddir_destroy(&l->h, UID_A, &l->err) < 0)
		fail_msg("%s", l->err.msg);
	assert_gone(l);
}

static void test_bounded(void **state)
{
	struct lab *l = *state;
	int fd = create(l), file;
	struct statfs fs;
	struct stat st;
	ssize_t n = 0;
	char *mib = xcalloc(1, 1 << 20);

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(fstatfs(fd, &fs), 0);
	assert_int_equal(fs.f_blocks * (uint64_t)fs.f_bsize, 5 << 20);
	file = openat(fd, "outcome", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(file >= 0);
	for (int i = 0; i < 8 && n >= 0; i++)
		n = write(file, mib, 1 << 20) == 1 << 20 ? 1 : -1;
	assert_int_equal(n, -1); /* a launcher fills its own directory, not the host's memory */
	free(mib);
	(void)fd_close(file);
	(void)fd_close(fd);
	destroy(l);
}

static void test_open(void **state)
{
	struct lab *l = *state;
	struct stat a, b;
	int fd = create(l), again = -1;

	assert_int_equal(poddir_open(&l->h, UID_A, &again, &l->err), 0);
	assert_int_equal(fstat(fd, &a), 0);
	assert_int_equal(fstat(again, &b), 0);
	assert_int_equal(a.st_dev, b.st_dev);
	(void)fd_close(fd);
	(void)fd_close(again);
	destroy(l);
	again = -77;
	assert_int_equal(poddir_open(&l->h, UID_A, &again, &l->err), -ENOENT);
	assert_int_equal(again, -77);
}

/* A client that still reads the console does not keep it. */
static void test_in_use(void **state)
{
	struct lab *l = *state;
	int fd = create(l), file = openat(fd, "console.log", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_true(file >= 0);
	destroy(l);
	assert_int_equal(write(file, "x", 1), 1);
	(void)fd_close(file);
	(void)fd_close(fd);
}

/* Made but not mounted, mounted twice, never made, gone already. */
static void test_half_made(void **state)
{
	struct lab *l = *state;

	destroy(l);
	assert_int_equal(mkdir_p_at(l->h.paths.run_fd, "pods/" UID_A, 0700), 0);
	destroy(l);
	(void)fd_close(create(l));
	(void)fd_close(create(l));
	destroy(l);
	destroy(l);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, lab_setup, lab_teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bounded),
		TEST(test_open),
		TEST(test_in_use),
		TEST(test_half_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}
