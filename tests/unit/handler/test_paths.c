// SPDX-License-Identifier: Apache-2.0
/* Where a root's files are, and the tag that tells roots apart. */
#include "tests/unit/unit.h"

#include "handler/handler.h"

#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
	char dir[64], root[96];
	struct paths p;
	struct err err;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);

	(void)snprintf(f->dir, sizeof f->dir, "/tmp/virtpod-paths-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(f->root, sizeof f->root, "%s/a/root", f->dir);
	f->p = (struct paths){.lib_fd = -1, .run_fd = -1};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	paths_close(&f->p);
	(void)rm_rf_at(AT_FDCWD, f->dir);
	free(f);
	return 0;
}

static mode_t mode_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_mode & 07777;
}

/* The names are those of paths_open, and nothing is made. */
static void test_name(void **state)
{
	struct fixture *f = *state;
	struct paths named = {.lib_fd = -1, .run_fd = -1};
	_cleanup_free_ char *lib = xasprintf("%s/lib", f->dir);

	assert_int_equal(paths_name(f->root, &f->p, &f->err), -ENOENT);
	assert_non_null(strstr(f->err.msg, f->root));
	assert_int_equal(paths_name(f->dir, &named, &f->err), 0);
	assert_string_equal(named.lib, lib);
	assert_int_equal(access(lib, F_OK), -1);
	assert_true(named.lib_fd == -1 && named.run_fd == -1);
	assert_int_equal(paths_open(f->dir, 1, &f->p, &f->err), 0);
	assert_string_equal(named.tag, f->p.tag);
	assert_string_equal(named.run, f->p.run);
	paths_close(&named);
}

static void test_make(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(paths_open(f->root, 1, &f->p, &f->err), 0);
	assert_string_equal(f->p.root, f->root);
	assert_string_equal(str_after(f->p.lib, f->root), "/lib");
	assert_string_equal(str_after(f->p.run, f->root), "/run");
	assert_int_equal(mode_of(f->p.lib_fd), 0755);
	assert_int_equal(mode_of(f->p.run_fd), 0711);
	assert_int_equal(strlen(f->p.tag), PATHS_TAG_LEN);
	assert_int_equal(strspn(f->p.tag, "0123456789abcdef"), PATHS_TAG_LEN);
}

/* A client makes nothing: it would be in the way of the handler that comes later. */
static void test_find_only(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(paths_open(f->root, 0, &f->p, &f->err), -ENOENT);
	assert_non_null(strstr(f->err.msg, f->root));
	assert_int_equal(access(f->root, F_OK), -1);
	assert_null(f->p.root); /* outputs are untouched on failure */
}

/* Cleaning makes none either, of a name that nobody ever served. */
static void test_clean(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *lib = xasprintf("%s/lib", f->dir);
	_cleanup_free_ char *run = xasprintf("%s/run", f->dir);

	assert_int_equal(handler_clean(f->root, /* force= */ false, &f->err), -ENOENT);
	assert_non_null(strstr(f->err.msg, "a/root: no such root"));
	assert_int_equal(access(f->root, F_OK), -1);
	err_clear(&f->err);
	assert_int_equal(handler_clean(f->dir, /* force= */ false, &f->err), -ENOENT);
	assert_int_equal(access(lib, F_OK), -1);
	assert_int_equal(access(run, F_OK), -1);
	err_clear(&f->err);
	assert_int_equal(mkdir(lib, 0755), 0); /* after a reboot there is no run */
	assert_int_equal(paths_check(f->dir, &f->err), 0);
	assert_int_equal(paths_check("/", &f->err), -EINVAL);
	assert_non_null(strstr(f->err.msg, "leave --root out"));
}

/* However the directory is named, it is one root; another one has another tag. */
static void test_tag(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *odd = xasprintf("%s/../root/.", f->root);
	_cleanup_free_ char *link = xasprintf("%s/link", f->dir);
	_cleanup_free_ char *other = xasprintf("%s/a/root2", f->dir);
	const char *const same[] = {odd, link, "root"};
	struct paths p = {.lib_fd = -1};
	int cwd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(paths_open(f->root, 1, &f->p, &f->err), 0);
	assert_int_equal(symlink("a/root", link), 0);
	assert_int_equal(chdir(f->dir), 0);
	assert_int_equal(chdir("a"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		assert_int_equal(paths_open(same[i], 0, &p, &f->err), 0);
		assert_string_equal(p.tag, f->p.tag);
		assert_string_equal(p.root, f->root);
		paths_close(&p);
	}
	assert_int_equal(fchdir(cwd), 0);
	(void)fd_close(cwd);
	assert_int_equal(paths_open(other, 1, &p, &f->err), 0);
	assert_string_not_equal(p.tag, f->p.tag);
	paths_close(&p);
}

static void test_refused(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *file = xasprintf("%s/file", f->dir);
	_cleanup_free_ char *below = xasprintf("%s/file/root", f->dir);

	assert_int_equal(file_replace_at(AT_FDCWD, file, "x", 1, 0600), 0);
	assert_int_equal(paths_open(file, 1, &f->p, &f->err), -ENOTDIR);
	err_clear(&f->err);
	assert_int_equal(paths_open(below, 1, &f->p, &f->err), -ENOTDIR);
	assert_non_null(strstr(f->err.msg, below));
	err_clear(&f->err);
	assert_int_equal(paths_open("", 1, &f->p, &f->err), -ENOENT);
}

/* The real installation's tag is that of "/": a --root of that name would kill its pods. */
static void test_slash(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(paths_open("/", 0, &f->p, &f->err), -EINVAL);
	assert_non_null(strstr(f->err.msg, "leave --root out"));
	err_clear(&f->err);
	assert_int_equal(paths_open("/tmp/..", 1, &f->p, &f->err), -EINVAL);
}

static void test_close_twice(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(paths_open(f->root, 1, &f->p, &f->err), 0);
	paths_close(&f->p);
	assert_int_equal(f->p.lib_fd, -1);
	assert_int_equal(f->p.run_fd, -1);
	paths_close(&f->p);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_make),  TEST(test_find_only),	  TEST(test_tag),  TEST(test_refused),
		TEST(test_slash), TEST(test_close_twice), TEST(test_name), TEST(test_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
