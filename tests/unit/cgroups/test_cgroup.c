// SPDX-License-Identifier: Apache-2.0
/* Making, filling, killing and removing pods, on the kernel's word. Limits: test_limits.c. */
#include "tests/unit/cgroups/fixture.h"

#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static void test_create_makes_and_destroy_removes(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec a = fix_spec(UID_A), b = fix_spec(UID_B);
	struct err err = {0};
	char left[512];

	fix_create(f, &a);
	fix_create(f, &b);
	for (const char *const *h = fix_hiers(); *h; h++) {
		assert_true(fix_group_there(*h, fix_emu("/pod-" UID_A)));
		assert_true(fix_group_there(*h, fix_emu("/pod-" UID_B)));
	}
	assert_false(fix_group_there("cpuset", fix_either("." UID_A ".vcpu", "." UID_A)));
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	assert_false(fix_group_there("memory", "/pod-" UID_A));
	assert_true(fix_group_there("memory", "/pod-" UID_B));
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	assert_int_equal(cgroup_pod_destroy(f->host, UID_B, &err), 0);
	/* the last pod takes the top groups with it */
	assert_false(fix_find_group(left, sizeof left));
}

static void test_existing_pod_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct err err = {0};

	fix_create(f, &spec);
	(void)fix_spawn(f, UID_A, fix_idle, NULL);
	assert_int_equal(cgroup_pod_create(f->host, &spec, &err), -EEXIST);
	assert_non_null(strstr(err.msg, UID_A));
	assert_true(fix_group_there("pids", "/pod-" UID_A));
}

static void test_failed_create_undoes_itself(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct err err = {0};
	char left[512];

	spec.limits.cpu_quota_us = 10; /* the kernel wants at least 1 ms */
	spec.limits.cpu_period_us = 100000;
	assert_int_equal(cgroup_pod_create(f->host, &spec, &err), -EINVAL);
	assert_non_null(strstr(err.msg, fix_either("cpu.cfs_quota_us", "cpu.max")));
	assert_false(fix_find_group(left, sizeof left));
}

static void test_bad_specs_are_refused_by_name(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct cgroup_device dev = {.type = 'c', .major = 1, .minor = 3, .access = "rx"};
	struct err err = {0};
	char left[512];

	CPU_SET(0, &spec.vcpu);
	assert_int_equal(cgroup_pod_create(f->host, &spec, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "disjoint"));
	err_clear(&err);

	spec = fix_spec(UID_A);
	CPU_ZERO(&spec.emu);
	assert_int_equal(cgroup_pod_create(f->host, &spec, &err), -EINVAL);
	err_clear(&err);

	spec = fix_spec(UID_A);
	CPU_SET(1000, &spec.vcpu);
	assert_int_equal(cgroup_pod_create(f->host, &spec, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "1000"));
	err_clear(&err);

	spec = fix_spec(UID_A);
	spec.limits.cpu_quota_us = 1000;
	assert_int_equal(cgroup_pod_create(f->host, &spec, &err), -EINVAL);
	err_clear(&err);

	spec = fix_spec(UID_A);
	spec.devices = &dev;
	spec.n_devices = 1;
	assert_int_equal(cgroup_pod_create(f->host, &spec, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "'rx'"));
	assert_false(fix_find_group(left, sizeof left));
}

static void assert_in_every_hierarchy(pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	char path[64], want[192];
	unsigned found = 0, n = 0;

	(void)snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
	(void)snprintf(want, sizeof want, ":/virtpod-%s%s\n", fix_tag, fix_emu("/pod-" UID_A));
	assert_int_equal(file_read_at(AT_FDCWD, path, 65536, &text, NULL), 0);
	for (const char *p = text; (p = strstr(p, want)); p++)
		found++;
	while (fix_hiers()[n])
		n++;
	assert_int_equal(found, n);
}

static void test_enter_joins_every_hierarchy(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);

	fix_create(f, &spec);
	assert_in_every_hierarchy(fix_spawn(f, UID_A, fix_idle, NULL));
}

/* What step spawn does: the parent joins all groups but v2's, its child is born there. */
static int give_birth(void *arg)
{
	struct fixture *f = arg;
	struct err err = {0};
	int group = -1, child = -1;
	struct clone_args how = {.flags = CLONE_INTO_CGROUP | CLONE_PIDFD,
				 .exit_signal = SIGCHLD,
				 .pidfd = (uintptr_t)&child};
	bool inside = true;
	siginfo_t info;

	if (cgroup_pod_birthplace(f->host, UID_A, &group, &err) < 0 || group < 0 ||
	    cgroup_pod_enter(f->host, UID_A, /* born= */ true, &err) < 0 ||
	    cgroup_pod_has_task(f->host, UID_A, getpid(), &inside, &err) < 0 || inside) {
		print_error("born outside: %s\n", err.msg);
		return 1;
	}
	how.cgroup = (uint64_t)group;
	if (syscall(SYS_clone3, &how, sizeof how) == 0)
		_exit(cgroup_pod_has_task(f->host, UID_A, getpid(), &inside, &err) < 0 || !inside);
	return waitid(P_PIDFD, (id_t)child, &info, WEXITED) < 0 || info.si_status;
}

static void test_born_in_the_pod(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);

	fix_create(f, &spec);
	assert_int_equal(fix_wait(f, fix_spawn(f, NULL, give_birth, f)), 0);
}

static void test_has_task(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec a = fix_spec(UID_A), b = fix_spec(UID_B);
	struct err err = {0};
	bool yes;
	pid_t pid;

	fix_create(f, &a);
	fix_create(f, &b);
	pid = fix_spawn(f, UID_A, fix_idle, NULL);
	assert_int_equal(cgroup_pod_has_task(f->host, UID_A, pid, &yes, &err), 0);
	assert_true(yes);
	assert_int_equal(cgroup_pod_has_task(f->host, UID_B, pid, &yes, &err), 0);
	assert_false(yes);
	assert_int_equal(cgroup_pod_has_task(f->host, UID_A, getpid(), &yes, &err), 0);
	assert_false(yes);
	assert_int_equal(cgroup_pod_has_task(f->host, UID_A, 0, &yes, &err), -EINVAL);
	err_clear(&err);
	assert_int_equal(kill(pid, SIGKILL), 0);
	(void)fix_wait(f, pid);
	assert_int_equal(cgroup_pod_has_task(f->host, UID_A, pid, &yes, &err), -ESRCH);
}

/* One hierarchy that differs is enough to be a stranger. */
static void test_task_outside_one_hierarchy_is_no_member(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct err err = {0};
	bool yes = true;
	pid_t pid;

	fix_create(f, &spec);
	pid = fix_spawn(f, UID_A, fix_idle, NULL);
	assert_true(fix_leave("pids", pid));
	assert_int_equal(cgroup_pod_has_task(f->host, UID_A, pid, &yes, &err), 0);
	assert_false(yes);
}

/* A child that ignores SIGTERM and has a child of its own, in a session of its own. */
static int stubborn(void *arg)
{
	(void)signal(SIGTERM, SIG_IGN);
	if (fork() == 0)
		(void)setsid();
	return fix_idle(arg);
}

static void test_kill_ends_all_and_events_tell(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	_cleanup_fd_ int events = -1;
	struct err err = {0};
	struct pollfd p = {.events = POLLPRI};
	char text[256];
	bool empty;
	pid_t pid;
	int status;

	fix_create(f, &spec);
	assert_int_equal(cgroup_pod_empty(f->host, UID_A, &empty, &err), 0);
	assert_true(empty);
	pid = fix_spawn(f, UID_A, stubborn, NULL);
	assert_int_equal(cgroup_pod_empty(f->host, UID_A, &empty, &err), 0);
	assert_false(empty);
	assert_int_equal(cgroup_pod_events(f->host, UID_A, &events, &err), 0);
	p.fd = events;
	assert_true(pread(events, text, sizeof text - 1, 0) > 0);

	assert_int_equal(cgroup_pod_kill(f->host, UID_A, &err), 0);
	status = fix_wait(f, pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	do {
		ssize_t n;

		assert_int_equal(poll(&p, 1, 10000), 1);
		n = pread(events, text, sizeof text - 1, 0);
		assert_true(n > 0);
		text[n] = 0;
	} while (!strstr(text, "populated 0"));
	assert_int_equal(cgroup_pod_empty(f->host, UID_A, &empty, &err), 0);
	assert_true(empty);
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	assert_int_equal(cgroup_pod_kill(f->host, UID_A, &err), 0); /* nothing to kill any more */
}

static void test_destroy_right_after_kill_waits(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct err err = {0};

	fix_create(f, &spec);
	for (int i = 0; i < 10; i++)
		(void)fix_spawn(f, UID_A, stubborn, NULL);
	assert_int_equal(cgroup_pod_kill(f->host, UID_A, &err), 0);
	if (cgroup_pod_destroy(f->host, UID_A, &err) < 0)
		fail_msg("%s", err.msg);
}

static void *hold_memory(void *arg)
{
	const size_t size = 64UL << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(EXIT_FAILED);
	memset(p, 1, size);
	if (write(*(int *)arg, "x", 1) != 1)
		_exit(EXIT_FAILED);
	(void)fix_idle(NULL);
	return NULL;
}

/* A process whose first thread has gone, and whose last one has memory to give back. */
static int headless(void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, hold_memory, arg))
		return EXIT_FAILED;
	(void)syscall(SYS_exit, 0); /* the thread's, not the process's */
	return EXIT_FAILED;
}

/* It is in no cgroup.procs while it dies, but there: a pod is empty when it can be removed. */
static void test_dying_thread_is_somebody(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct err err = {0};
	bool empty = false;
	char byte;
	int p[2];
	pid_t pid;

	fix_create(f, &spec);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	pid = fix_spawn(f, UID_A, headless, &p[1]);
	assert_int_equal(read(p[0], &byte, 1), 1);
	/* cgroup.kill signals first threads alone, and this one has none: a pod's PID 1 is what ends it */
	assert_int_equal(kill(pid, SIGKILL), 0);
	while (!empty)
		assert_int_equal(cgroup_pod_empty(f->host, UID_A, &empty, &err), 0);
	assert_non_null(strstr(fix_file("unified", "/pod-" UID_A, "cgroup.events"), "populated 0"));
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	(void)close(p[0]);
	(void)close(p[1]);
}

static void test_destroy_with_a_live_process(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct err err = {0};
	char number[16];
	pid_t pid;

	fix_create(f, &spec);
	pid = fix_spawn(f, UID_A, fix_idle, NULL);
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), -EBUSY);
	(void)snprintf(number, sizeof number, " %d ", pid);
	assert_non_null(strstr(err.msg, number));
	for (const char *const *h = fix_hiers(); *h; h++)
		assert_true(fix_group_there(*h, "/pod-" UID_A));
}

/* What a handler finds that died half way through making or removing a pod. */
static void test_half_made_pods_are_listed_and_removed(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};
	char left[512];
	char **uids;
	size_t n;

	fix_make_group("pids", "/pod-" UID_B);
	fix_make_group("cpuset", fix_either("." UID_A ".vcpu", "." UID_A "/emu"));
	fix_make_group("unified", "/pod-" UID_B "/x/y");

	assert_int_equal(cgroup_list(f->host, &uids, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(uids[0], UID_A);
	assert_string_equal(uids[1], UID_B);
	cgroup_list_free(uids, n);
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	assert_int_equal(cgroup_pod_destroy(f->host, UID_B, &err), 0);
	assert_false(fix_find_group(left, sizeof left));
}

static void test_absent_pod(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};
	json_t *j = NULL;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	assert_int_equal(cgroup_pod_enter(f->host, UID_A, /* born= */ false, &err), -ENOENT);
	err_clear(&err);
	assert_int_equal(cgroup_pod_read(f->host, UID_A, &j, &err), -ENOENT);
	assert_null(j);
	err_clear(&err);
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_A, &cpus, &err), -ENOENT);
}

static void test_host_open_checks_the_tag(void **state)
{
	static const char *const bad[] = {"",	      "1234567",  "123456789", "ABCDEF01",
					  "../..abc", "1234567/", "1234567\n"};
	struct cgroup_host *h = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err err = {0};

		assert_int_equal(cgroup_host_open(bad[i], &h, &err), -EINVAL);
		assert_null(h);
	}
	assert_int_equal(cgroup_host_open(NULL, &h, NULL), -EINVAL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fix_setup, fix_teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		T(test_create_makes_and_destroy_removes),
		T(test_existing_pod_is_left_alone),
		T(test_failed_create_undoes_itself),
		T(test_bad_specs_are_refused_by_name),
		T(test_enter_joins_every_hierarchy),
		T(test_born_in_the_pod),
		T(test_has_task),
		T(test_task_outside_one_hierarchy_is_no_member),
		T(test_kill_ends_all_and_events_tell),
		T(test_destroy_right_after_kill_waits),
		T(test_dying_thread_is_somebody),
		T(test_destroy_with_a_live_process),
		T(test_half_made_pods_are_listed_and_removed),
		T(test_absent_pod),
		T(test_host_open_checks_the_tag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return fix_main(run);
}
