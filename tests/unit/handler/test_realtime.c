// SPDX-License-Identifier: Apache-2.0
/* What realtime vCPUs need of the host, and which threads are made so. */
#include "tests/unit/unit.h"

#include "handler/realtime.h"
#include "handler/rlimits.h"

#include "tests/unit/handler/sysfs.h"

#include <cap-ng.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct plan *plan_of(const char *vcpus)
{
	struct plan *p = xcalloc(1, sizeof *p);

	p->realtime_vcpus = vcpus ? xstrdup(vcpus) : NULL;
	return p;
}

static void throttled(void **state)
{
	const struct sysfs *s = *state;
	struct plan *p = plan_of("0"), *other = plan_of(NULL);
	struct err err = {0};

	sysfs_put(s, "proc/sys/kernel/sched_rt_runtime_us", "950000");
	assert_int_equal(realtime_check(s->root, other, &err), 0);
	assert_int_equal(realtime_check(s->root, p, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, "is 950000, must be -1"));
	sysfs_put(s, "proc/sys/kernel/sched_rt_runtime_us", "-1");
	assert_int_equal(realtime_check(s->root, p, &err), 0);
	plan_free(p);
	plan_free(other);
}

/* Pid -1 is nobody's, and a thread that must not be touched. */
static void threads_of_the_mask_alone(void **state)
{
	struct plan *p = plan_of("1-2"), *none = plan_of(NULL);
	struct pod pod = {.plan = p, .vcpu_tids = {0, -1, 0, 0}};
	struct err err = {0};

	(void)state;
	assert_int_equal(realtime_set(&pod, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "SCHED_FIFO for vCPU 1 (thread -1)"));
	pod.plan = none;
	assert_int_equal(realtime_set(&pod, &err), 0);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	plan_free(p);
	plan_free(none);
}

/* In a process that has only 64 KiB and may not have more: 0 when it answers as it should. */
static int without_the_power(void)
{
	const struct rlimit little = {65536, 65536};
	struct plan *p = plan_of("0"), *other = plan_of(NULL);
	struct err err = {0};
	struct rlimit now;

	if (setrlimit(RLIMIT_MEMLOCK, &little) < 0)
		return 1;
	capng_get_caps_process();
	(void)capng_update(CAPNG_DROP, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_SYS_RESOURCE);
	if (capng_apply(CAPNG_SELECT_CAPS) < 0)
		return 2;
	if (rlimits_check(other, &err) != 0 || rlimits_check(p, &err) != -ENOTSUP)
		return 3;
	if (!strstr(err.msg, "virt-handler has 64 KiB") || !strstr(err.msg, "LimitMEMLOCK"))
		return 4;
	if (getrlimit(RLIMIT_MEMLOCK, &now) < 0 || now.rlim_cur != 65536 || now.rlim_max != 65536)
		return 5;
	plan_free(p);
	plan_free(other);
	return 0;
}

static void locked_memory_is_refused(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(without_the_power());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(throttled, sysfs_setup, sysfs_teardown),
		cmocka_unit_test(threads_of_the_mask_alone),
		cmocka_unit_test(locked_memory_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
