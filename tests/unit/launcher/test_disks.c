// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "launcher/disks.h"
#include "tests/unit/launcher/plan_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MIB (1 << 20)

static struct plan *plan;
static struct argv_fds fds;
static char path[64];

static int setup(void **state)
{
	(void)state;
	plan = plan_fixture();
	plan_fixture_disk(plan, "root");
	plan->disks[0].cache = CACHE_DEFAULT;
	plan->disks[0].io = IO_DEFAULT;
	(void)snprintf(path, sizeof path,
		       "/var/tmp/disk-XXXXXX"); /* tmpfs has no O_DIRECT everywhere */
	fds = (struct argv_fds){.disk = {mkostemp(path, O_CLOEXEC)}};
	assert_true(fds.disk[0] >= 0);
	assert_int_equal(ftruncate(fds.disk[0], MIB), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	(void)close(fds.disk[0]);
	(void)unlink(path);
	plan_free(plan);
	return 0;
}

static void resolve(void)
{
	struct err err = {0};

	if (disks_resolve(plan, &fds, &err) < 0)
		fail_msg("%s", err.msg);
}

static void test_sparse(void **state)
{
	(void)state;
	resolve();
	assert_int_equal(plan->disks[0].cache, CACHE_NONE);
	assert_int_equal(plan->disks[0].io, IO_THREADS);
	assert_false(fds.preallocated[0]);
	assert_int_equal(fcntl(fds.disk[0], F_GETFL) & O_DIRECT, 0); /* as it was */
}

static void test_allocated(void **state)
{
	(void)state;
	assert_int_equal(posix_fallocate(fds.disk[0], 0, MIB), 0);
	resolve();
	assert_int_equal(plan->disks[0].io, IO_NATIVE);
	assert_true(fds.preallocated[0]);
	/* a qcow2 file's size says nothing about the guest's disk */
	plan->disks[0].format = FORMAT_QCOW2;
	plan->disks[0].io = IO_DEFAULT;
	resolve();
	assert_int_equal(plan->disks[0].io, IO_THREADS);
	assert_false(fds.preallocated[0]);
}

static void test_given_modes_stay(void **state)
{
	(void)state;
	assert_int_equal(posix_fallocate(fds.disk[0], 0, MIB), 0);
	plan->disks[0].cache = CACHE_WRITEBACK;
	resolve();
	assert_int_equal(plan->disks[0].cache, CACHE_WRITEBACK);
	assert_int_equal(plan->disks[0].io, IO_THREADS); /* native needs cache none */
	plan->disks[0].cache = CACHE_NONE;
	plan->disks[0].io = IO_THREADS;
	resolve();
	assert_int_equal(plan->disks[0].io, IO_THREADS);
}

static void refused(const char *word)
{
	struct err err = {0};

	assert_int_equal(disks_resolve(plan, &fds, &err), -EINVAL);
	if (!strstr(err.msg, word))
		fail_msg("'%s' is not in: %s", word, err.msg);
}

static void test_without_direct_io(void **state)
{
	int real = fds.disk[0];

	(void)state;
	/* /proc files are regular and know no O_DIRECT */
	fds.disk[0] = open("/proc/self/comm", O_RDWR | O_CLOEXEC);
	resolve();
	assert_int_equal(plan->disks[0].cache, CACHE_WRITETHROUGH);
	plan->disks[0].cache = CACHE_NONE;
	refused("cache none needs O_DIRECT");
	plan->disks[0].cache = CACHE_WRITETHROUGH;
	plan->disks[0].shareable = true;
	refused("shareable needs O_DIRECT");
	(void)close(fds.disk[0]);
	fds.disk[0] = real;
}

static void test_access_mode(void **state)
{
	(void)state;
	plan->disks[0].readonly = true;
	refused("for writing, want read-only");
	plan->disks[0].readonly = false;
	plan->disks[0].device = DEVICE_CDROM;
	refused("for writing, want read-only");
}

int main(void)
{
#define DISK_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		DISK_TEST(test_sparse),		  DISK_TEST(test_allocated),
		DISK_TEST(test_given_modes_stay), DISK_TEST(test_without_direct_io),
		DISK_TEST(test_access_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
