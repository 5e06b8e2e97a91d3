// SPDX-License-Identifier: Apache-2.0
/* Memory, pids, CPU and device limits: what the kernel holds, and what it does to a child. */
#include "tests/unit/cgroups/fixture.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#define MIB (1024UL * 1024)

static void test_files_hold_the_limits(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);

	spec.limits = (struct cgroup_limits){
		.memory_max = 64 * MIB + 5000,
		.pids_max = 77,
		.cpu_quota_us = 25000,
		.cpu_period_us = 50000,
		.cpu_shares = 512,
	};
	fix_create(f, &spec);
	/* the kernel counts in pages */
	assert_string_equal(fix_file("memory", "/pod-" UID_A, "memory.limit_in_bytes"), "67112960");
	assert_string_equal(fix_file("memory", "/pod-" UID_A, "memory.memsw.limit_in_bytes"),
			    "67112960");
	assert_string_equal(fix_file("memory", "/pod-" UID_A, "memory.use_hierarchy"), "1");
	assert_string_equal(fix_file("pids", "/pod-" UID_A, "pids.max"), "77");
	assert_string_equal(fix_file("cpu", "/pod-" UID_A, "cpu.cfs_quota_us"), "25000");
	assert_string_equal(fix_file("cpu", "/pod-" UID_A, "cpu.cfs_period_us"), "50000");
	assert_string_equal(fix_file("cpu", "/pod-" UID_A, "cpu.shares"), "512");
	assert_string_equal(fix_file("devices", "/pod-" UID_A, "devices.list"), "a *:* rwm");
}

static void test_value_the_kernel_bends_is_refused(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct err err = {0};
	char left[512];

	spec.limits.cpu_shares = 1; /* the kernel silently makes it 2 */
	assert_int_equal(cgroup_pod_create(f->host, &spec, &err), -EIO);
	assert_non_null(strstr(err.msg, "cpu.shares was set to '1' but the kernel holds '2'"));
	assert_false(fix_find_group(left, sizeof left));
}

static int eat_memory(void *arg)
{
	size_t size = *(size_t *)arg;
	volatile char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return EXIT_FAILED;
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 1;
	return 0;
}

static json_int_t number_at(struct fixture *f, const char *object, const char *key)
{
	struct err err = {0};
	json_t *j = NULL, *v;
	json_int_t n;

	if (cgroup_pod_read(f->host, UID_A, &j, &err) < 0)
		fail_msg("read: %s", err.msg);
	v = json_object_get(json_object_get(j, object), key);
	assert_true(json_is_integer(v));
	n = json_integer_value(v);
	json_decref(j);
	return n;
}

static void test_memory_limit_kills(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	size_t little = 4 * MIB, much = 256 * MIB;
	int status;

	spec.limits.memory_max = 32 * MIB;
	fix_create(f, &spec);
	status = fix_wait(f, fix_spawn(f, UID_A, eat_memory, &little));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(number_at(f, "events", "oomKills"), 0);
	assert_true(number_at(f, "use", "memoryPeakBytes") >= (json_int_t)little);

	status = fix_wait(f, fix_spawn(f, UID_A, eat_memory, &much));
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_int_equal(number_at(f, "events", "oomKills"), 1);
	assert_true(number_at(f, "use", "memoryPeakBytes") <= (json_int_t)(32 * MIB));
}

/* How many children can be had until fork fails; negative errno when it isn't EAGAIN. */
static int count_forks(void *arg)
{
	int n = 0;

	(void)arg;
	for (; n < 20; n++) {
		pid_t pid = fork();

		if (pid < 0)
			return errno == EAGAIN ? n : EXIT_FAILED;
		if (!pid)
			_exit(fix_idle(NULL));
	}
	return n;
}

static void test_pids_limit(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	int status;

	spec.limits.pids_max = 5;
	fix_create(f, &spec);
	status = fix_wait(f, fix_spawn(f, UID_A, count_forks, NULL));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 4); /* the fifth is the child itself */
	assert_int_equal(number_at(f, "events", "pidsLimitHits"), 1);
	assert_int_equal(number_at(f, "use", "pids"), 4);
}

static int burn_cpu(void *arg)
{
	volatile unsigned long n = 0;
	clock_t end = clock() + CLOCKS_PER_SEC / 10;

	(void)arg;
	while (clock() < end)
		n = n + 1;
	return 0;
}

static void test_cpu_quota_throttles(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	const char *stat;

	spec.limits.cpu_quota_us = 2000;
	spec.limits.cpu_period_us = 10000;
	fix_create(f, &spec);
	assert_int_equal(number_at(f, "use", "cpuThrottledPeriods"), 0);
	assert_int_equal(fix_wait(f, fix_spawn(f, UID_A, burn_cpu, NULL)), 0);
	/* 100 ms of CPU at 2 ms a period need 50 periods; slack for slices borrowed ahead */
	assert_true(number_at(f, "use", "cpuThrottledPeriods") >= 10);
	assert_true(number_at(f, "use", "cpuThrottledUsec") >= 10000);
	/* the kernel counts nanoseconds there */
	stat = strstr(fix_file("cpu", "/pod-" UID_A, "cpu.stat"), "throttled_time ");
	assert_non_null(stat);
	assert_int_equal(number_at(f, "use", "cpuThrottledUsec"),
			 strtoll(stat + 15, NULL, 10) / 1000);
	assert_true(number_at(f, "use", "cpuUsec") >= 90000);
}

/* Bits of what works: 1 open null for reading, 2 for writing, 4 open zero, 8 mknod null, 16 zero. */
static int try_devices(void *arg)
{
	_cleanup_fd_ int fd = open(fix_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int bits = 0;

	(void)arg;
	for (int i = 0; i < 5; i++) {
		int r = -1;

		switch (i) {
		case 0:
			r = open("/dev/null", O_RDONLY | O_CLOEXEC);
			break;
		case 1:
			r = open("/dev/null", O_WRONLY | O_CLOEXEC);
			break;
		case 2:
			r = open("/dev/zero", O_RDONLY | O_CLOEXEC);
			break;
		case 3:
			r = mknodat(fd, "null", S_IFCHR | 0600, makedev(1, 3));
			break;
		case 4:
			r = mknodat(fd, "zero", S_IFCHR | 0600, makedev(1, 5));
			break;
		}
		if (r >= 0)
			bits |= 1 << i;
		else if (errno != EPERM)
			return EXIT_FAILED;
	}
	(void)unlinkat(fd, "null", 0);
	(void)unlinkat(fd, "zero", 0);
	return bits;
}

static int devices_allowed(struct fixture *f, const struct cgroup_device *list, unsigned n)
{
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct err err = {0};
	int status;

	spec.devices = list;
	spec.n_devices = n;
	fix_create(f, &spec);
	status = fix_wait(f, fix_spawn(f, UID_A, try_devices, NULL));
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_devices(void **state)
{
	struct fixture *f = *state;
	struct cgroup_device null_all = {'c', 1, 3, false, "rwm"};
	struct cgroup_device null_twice[] = {{'c', 1, 3, false, "r"}, {'c', 1, 3, false, "m"}};
	struct cgroup_device any = {'c', 1, 0, true, "mr"};
	struct cgroup_device block = {'b', 1, 3, false, "rwm"};

	assert_int_equal(devices_allowed(f, &null_all, 0), 0);		   /* a list of none */
	assert_int_equal(devices_allowed(f, NULL, 0), 1 | 2 | 4 | 8 | 16); /* no list */
	assert_int_equal(devices_allowed(f, &null_all, 1), 1 | 2 | 8);
	assert_int_equal(devices_allowed(f, null_twice, 2), 1 | 8);
	assert_int_equal(devices_allowed(f, &any, 1), 1 | 4 | 8 | 16);
	assert_int_equal(devices_allowed(f, &block, 1), 0);
}

static void test_read_shows_limits(void **state)
{
	struct fixture *f = *state;
	struct cgroup_device null_all = {'c', 1, 3, false, "rwm"};
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	_cleanup_free_ char *text = NULL;
	struct err err = {0};
	json_t *j = NULL;

	spec.limits.pids_max = 9;
	spec.devices = &null_all;
	spec.n_devices = 1;
	fix_create(f, &spec);
	assert_int_equal(cgroup_pod_read(f->host, UID_A, &j, &err), 0);
	text = json_dumps(json_object_get(j, "limits"), JSON_COMPACT | JSON_SORT_KEYS);
	assert_string_equal(text, "{\"cpuPeriodUs\":100000,\"cpuQuotaUs\":null,\"cpuShares\":1024,"
				  "\"memoryMax\":null,\"memorySwapMax\":null,\"pidsMax\":9}");
	assert_int_equal(json_array_size(json_object_get(j, "devices")), 1);
	assert_string_equal(json_string_value(json_array_get(json_object_get(j, "devices"), 0)),
			    "c 1:3 rwm");
	json_decref(j);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fix_setup, fix_teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		T(test_files_hold_the_limits), T(test_value_the_kernel_bends_is_refused),
		T(test_memory_limit_kills),    T(test_pids_limit),
		T(test_cpu_quota_throttles),   T(test_devices),
		T(test_read_shows_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return fix_main(run);
}
