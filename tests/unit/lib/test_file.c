// SPDX-License-Identifier: Apache-2.0
/* Folders: which error says that there is none, and no descriptor that an error leaves behind. */
#include "tests/unit/unit.h"

#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void test_folders(void **state)
{
	char root[] = "/tmp/virtpod-file-XXXXXX";
	_cleanup_fd_ int at = -1;
	int next = dup(0);
	DIR *dir = NULL;

	(void)state;
	assert_non_null(mkdtemp(root));
	(void)fd_close(next);
	at = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(at, next); /* the lowest that is free */
	assert_int_equal(file_replace_at(at, "file", "", 0, 0600), 0);
	assert_int_equal(dir_open_at(at, "none", &dir), -ENOENT);
	assert_int_equal(dir_open_at(at, "file", &dir), -ENOTDIR);
	assert_int_equal(dir_open_fd(openat(at, "file", O_RDONLY | O_CLOEXEC), &dir), -ENOTDIR);
	assert_null(dir);
	assert_int_equal(dir_open_at(at, ".", &dir), 0);
	assert_int_equal(dirfd(dir), at + 1);
	(void)closedir(dir);
	assert_int_equal(rm_rf_at(AT_FDCWD, root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
