// SPDX-License-Identifier: Apache-2.0
/* Memory, pids, CPU and device limits: what the kernel holds, and what it does to a child. */
#include "tests/unit/cgroups/fixture.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#define MIB (1024UL * 1024)

struct file_text {
	const char *hier, *file, *text;
};

/* Are these, and no others, the devices that reading shows? NULL at the end. */
static bool devices_are(struct fixture *f, const char *first, ...)
{
	struct err err = {0};
	json_t *j = NULL, *list;
	size_t n = 0;
	bool same = true;
	va_list more;

	if (cgroup_pod_read(f->host, UID_A, &j, &err) < 0)
		fail_msg("read: %s", err.msg);
	list = json_object_get(j, "devices");
	va_start(more, first);
	for (const char *want = first; want; want = va_arg(more, const char *)) {
		bool found = false;

		for (size_t i = 0; i < json_array_size(list); i++)
			found |= str_eq(json_string_value(json_array_get(list, i)), want);
		same &= found;
		n++;
	}
	va_end(more);
	same &= json_array_size(list) == n;
	json_decref(j);
	return same;
}

static void test_files_hold_the_limits(void **state)
{
	/* the kernel counts memory in pages */
	static const struct file_text v1[] = {{"memory", "memory.limit_in_bytes", "67112960"},
					      {"memory", "memory.memsw.limit_in_bytes", "67112960"},
					      {"memory", "memory.use_hierarchy", "1"},
					      {"pids", "pids.max", "77"},
					      {"cpu", "cpu.cfs_quota_us", "25000"},
					      {"cpu", "cpu.cfs_period_us", "50000"},
					      {"cpu", "cpu.shares", "512"},
					      {NULL}};
	static const struct file_text v2[] = {{"", "memory.max", "67112960"},
					      {"", "memory.swap.max", "0"},
					      {"", "memory.oom.group", "1"},
					      {"", "pids.max", "77"},
					      {"", "cpu.max", "25000 50000"},
					      {"", "cpu.weight", "20"},
					      {NULL}};
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
	for (const struct file_text *w = fix_v2 ? v2 : v1; w->file; w++)
		assert_string_equal(fix_file(w->hier, "/pod-" UID_A, w->file), w->text);
	assert_true(devices_are(f, "a *:* rwm", NULL));
}

static void test_no_limit_is_the_kernels_default(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);

	fix_create(f, &spec);
	if (fix_v2) {
		assert_string_equal(fix_file("", "/pod-" UID_A, "memory.max"), "max");
		assert_string_equal(fix_file("", "/pod-" UID_A, "cpu.max"), "max 100000");
	} else {
		assert_string_equal(fix_file("cpu", "/pod-" UID_A, "cpu.cfs_quota_us"), "-1");
		assert_string_equal(fix_file("cpu", "/pod-" UID_A, "cpu.shares"), "1024");
	}
	assert_string_equal(fix_file("pids", "/pod-" UID_A, "pids.max"), "max");
}

static void test_weight(void **state)
{
	(void)state;
	assert_int_equal(cgroup_cpu_weight(2), 1);
	assert_int_equal(cgroup_cpu_weight(1024), 39);
	assert_int_equal(cgroup_cpu_weight(262144), 10000);
}

static void test_value_the_kernel_bends_is_refused(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct err err = {0};
	char left[512];

	spec.limits.memory_max = UINT64_MAX; /* it has fewer bits for that */
	assert_int_equal(cgroup_pod_create(f->host, &spec, &err), -EIO);
	assert_non_null(strstr(err.msg, fix_either("memory.limit_in_bytes", "memory.max")));
	assert_non_null(strstr(err.msg, fix_either("but the kernel holds '9223372036854771712'",
						   "but the kernel holds 'max'")));
	assert_false(fix_find_group(left, sizeof left));
	err_clear(&err);

	spec.limits.memory_max = 0;
	spec.limits.cpu_shares =
		1; /* the kernel silently makes it 2; a weight out of range, never */
	assert_int_equal(cgroup_pod_create(f->host, &spec, &err), fix_v2 ? -ERANGE : -EIO);
	assert_non_null(
		strstr(err.msg, fix_either("cpu.shares was set to '1' but the kernel holds '2'",
					   "cpu.weight")));
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
	json_int_t kills;
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
	/* where all of a group are killed, Linux 6.1 counts the one that was chosen twice */
	kills = number_at(f, "events", "oomKills");
	assert_true(kills == 1 || (fix_v2 && kills == 2));
	assert_true(number_at(f, "use", "memoryPeakBytes") <= (json_int_t)(32 * MIB));
}

/* Of a pod that is out of memory nothing is left on v2; v1 kills one process. */
static void test_who_is_killed_with_it(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec a = fix_spec(UID_A), b = fix_spec(UID_B);
	size_t much = 256 * MIB;
	pid_t bystander, other;
	bool empty;
	int status;

	a.limits.memory_max = 32 * MIB;
	fix_create(f, &a);
	fix_create(f, &b);
	bystander = fix_spawn(f, UID_A, fix_idle, NULL);
	other = fix_spawn(f, UID_B, fix_idle, NULL);
	status = fix_wait(f, fix_spawn(f, UID_A, eat_memory, &much));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	if (fix_v2) {
		status = fix_wait(f, bystander);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		assert_true(number_at(f, "events", "oomKills") >= 2);
	} else {
		assert_int_equal(waitpid(bystander, &status, WNOHANG), 0);
		assert_int_equal(number_at(f, "events", "oomKills"), 1);
	}
	assert_int_equal(cgroup_pod_empty(f->host, UID_A, &empty, NULL), 0);
	assert_int_equal(empty, fix_v2);
	assert_int_equal(waitpid(other, &status, WNOHANG), 0); /* another pod's, in any case */
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

static json_int_t throttled_usec(void)
{
	const char *word = fix_either("throttled_time ", "throttled_usec ");
	const char *stat = strstr(fix_file("cpu", "/pod-" UID_A, "cpu.stat"), word);

	assert_non_null(stat);
	return strtoll(stat + strlen(word), NULL, 10) / (fix_v2 ? 1 : 1000); /* v1: nanoseconds */
}

static void test_cpu_quota_throttles(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	json_int_t before, shown;

	spec.limits.cpu_quota_us = 2000;
	spec.limits.cpu_period_us = 10000;
	fix_create(f, &spec);
	assert_int_equal(number_at(f, "use", "cpuThrottledPeriods"), 0);
	assert_int_equal(fix_wait(f, fix_spawn(f, UID_A, burn_cpu, NULL)), 0);
	/* 100 ms of CPU at 2 ms a period need 50 periods; slack for slices borrowed ahead */
	assert_true(number_at(f, "use", "cpuThrottledPeriods") >= 10);
	assert_true(number_at(f, "use", "cpuThrottledUsec") >= 10000);
	/* a period that has begun is still counted when the child has gone */
	before = throttled_usec();
	shown = number_at(f, "use", "cpuThrottledUsec");
	assert_in_range(shown, before, throttled_usec());
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

static const char *limits_text(struct fixture *f)
{
	static char text[512];
	_cleanup_free_ char *dump = NULL;
	struct err err = {0};
	json_t *j = NULL;

	if (cgroup_pod_read(f->host, UID_A, &j, &err) < 0)
		fail_msg("read: %s", err.msg);
	dump = json_dumps(json_object_get(j, "limits"), JSON_COMPACT | JSON_SORT_KEYS);
	(void)snprintf(text, sizeof text, "%s", dump);
	json_decref(j);
	return text;
}

static void test_read_shows_limits(void **state)
{
	struct fixture *f = *state;
	struct cgroup_device list[] = {{'c', 1, 3, false, "wr"},
				       {'b', 7, 0, true, "m"},
				       {'c', 1, 3, false, "m"},
				       {'c', 1, 5, false, "r"}};
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct err err = {0};

	spec.limits.pids_max = 9;
	spec.devices = list;
	spec.n_devices = ARRAY_SIZE(list);
	fix_create(f, &spec);
	assert_string_equal(
		limits_text(f),
		fix_either("{\"cpuPeriodUs\":100000,\"cpuQuotaUs\":null,\"cpuShares\":1024,"
			   "\"memoryMax\":null,\"memorySwapMax\":null,\"pidsMax\":9}",
			   "{\"cpuPeriodUs\":100000,\"cpuQuotaUs\":null,\"cpuShares\":null,"
			   "\"cpuWeight\":100,\"memoryMax\":null,\"memorySwapMax\":null,"
			   "\"pidsMax\":9}"));
	assert_true(devices_are(f, "c 1:3 rwm", "b 7:* m", "c 1:5 r", NULL));
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);

	spec.limits = (struct cgroup_limits){.memory_max = 64 * MIB,
					     .pids_max = 9,
					     .cpu_quota_us = 20000,
					     .cpu_period_us = 50000,
					     .cpu_shares = 2048};
	spec.n_devices = 0;
	fix_create(f, &spec);
	assert_string_equal(
		limits_text(f),
		fix_either("{\"cpuPeriodUs\":50000,\"cpuQuotaUs\":20000,\"cpuShares\":2048,"
			   "\"memoryMax\":67108864,\"memorySwapMax\":67108864,\"pidsMax\":9}",
			   "{\"cpuPeriodUs\":50000,\"cpuQuotaUs\":20000,\"cpuShares\":null,"
			   "\"cpuWeight\":79,\"memoryMax\":67108864,"
			   "\"memorySwapMax\":67108864,\"pidsMax\":9}"));
	assert_true(devices_are(f, NULL));
}

#define T(name) cmocka_unit_test_setup_teardown(name, fix_setup, fix_teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		T(test_files_hold_the_limits),
		T(test_no_limit_is_the_kernels_default),
		T(test_weight),
		T(test_value_the_kernel_bends_is_refused),
		T(test_memory_limit_kills),
		T(test_who_is_killed_with_it),
		T(test_pids_limit),
		T(test_cpu_quota_throttles),
		T(test_devices),
		T(test_read_shows_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return fix_main(run);
}
