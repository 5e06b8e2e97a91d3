// SPDX-License-Identifier: Apache-2.0
/* The list of the kernel's threads: when it can't be had, somebody has to say why and what helps. */
#include "tests/unit/unit.h"

#include "handler/kthreads.h"

#include "tests/unit/handler/sysfs.h"

#include <errno.h>

#define CHILDREN "proc/2/task/2/children"

static void refused(const struct sysfs *s, int code, const char *words)
{
	struct err err = {0};
	char *pids = NULL;

	assert_int_equal(kthreads_list(s->root, &pids, &err), code);
	assert_null(pids);
	if (!strstr(err.msg, "kvm-pit may run on dedicated CPUs: ") || !strstr(err.msg, words))
		fail_msg("'%s' is not in: %s", words, err.msg);
}

static void listed(void **state)
{
	_cleanup_free_ char *pids = NULL;
	const struct sysfs *s = *state;
	struct err err = {0};

	sysfs_put(s, CHILDREN, "3 4 17 ");
	assert_int_equal(kthreads_list(s->root, &pids, &err), 0);
	assert_string_equal(pids, "3 4 17 \n");
}

static void not_there(void **state)
{
	refused(*state, -ENOENT,
		"no /" CHILDREN ", which lists the kernel's threads: take a "
		"kernel with CONFIG_PROC_CHILDREN");
}

static void too_many(void **state)
{
	const size_t size = 1024 * 1024;
	_cleanup_free_ char *text = xcalloc(1, size + 1);
	const struct sysfs *s = *state;

	memset(text, '1', size); /* and a newline */
	sysfs_put(s, CHILDREN, text);
	refused(s, -EFBIG, "more than the 1048576 bytes that are read: let fewer VMs run here");
}

static void unreadable(void **state)
{
	const struct sysfs *s = *state;

	sysfs_put(s, CHILDREN "/x", "");
	refused(s, -EISDIR, CHILDREN ": Is a directory");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, sysfs_setup, sysfs_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(listed),
		TEST(not_there),
		TEST(too_many),
		TEST(unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
