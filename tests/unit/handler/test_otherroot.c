// SPDX-License-Identifier: Apache-2.0
/*
 * Exclusive CPUs on a host with two roots: a start waits until the other root's pods have left its
 * CPUs, and is refused when they stay. The steps are this file's own, around the real step cpus.
 */
#include "tests/unit/handler/lab.h"

#include "handler/hostcpus.h"
#include "handler/steps.h"

static bool went_on;

static int step_end(struct pod *pod, struct err *err)
{
	(void)pod;
	(void)err;
	went_on = true;
	return STEP_WAIT;
}

static int undo_end(struct pod *pod, struct err *err)
{
	(void)pod;
	(void)err;
	return 0;
}

const struct pod_step pod_steps[] = {{"cpus", step_cpus, undo_cpus}, {"end", step_end, undo_end}};
const int pod_n_steps = ARRAY_SIZE(pod_steps);

int pod_step_index(const char *name)
{
	return str_eq(name, "cpus") ? 0 : str_eq(name, "cgroup") ? 1 : 99;
}

struct fixture {
	struct lab *lab;
	struct cgroup_host *other; /* the other root's groups */
	pid_t task;		   /* in its pod */
};

static pid_t join(struct cgroup_host *other)
{
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (cgroup_pod_enter(other, UID_B, /* born= */ false, NULL) < 0 ||
		    write(ready[1], "x", 1) != 1)
			_exit(1);
		while (pause() < 0)
			;
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	return pid;
}

/* The other root's pod may run on CPUs 0 and 1. */
static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);
	struct cgroup_pod_spec spec = {.uid = UID_B};
	char tag[9];

	f->lab = lab_open("pack:1 core:2 pu:1");
	f->lab->h.policy.manager = CPU_MANAGER_STATIC;
	CPU_SET(0, &f->lab->h.policy.reserved);
	(void)snprintf(tag, sizeof tag, "%s", f->lab->h.paths.tag);
	tag[7] = tag[7] == '0' ? '1' : '0';
	if (cgroup_host_open(tag, &f->other, &f->lab->err) < 0)
		fail_msg("%s", f->lab->err.msg);
	CPU_SET(0, &spec.emu);
	CPU_SET(1, &spec.emu);
	if (cgroup_pod_create(f->other, &spec, &f->lab->err) < 0)
		fail_msg("%s", f->lab->err.msg);
	f->task = join(f->other);
	went_on = false;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	int r;

	(void)kill(f->task, SIGKILL);
	(void)waitpid(f->task, NULL, 0);
	r = lab_remove_groups(f->other);

	cgroup_host_free(f->other);
	lab_close(f->lab);
	free(f);
	return r;
}

/* A VM that asks for one CPU: with CPU 0 reserved it can only be CPU 1. */
static struct pod *start(struct fixture *f)
{
	struct pod *pod = lab_pod(f->lab, UID_A, "a");

	pod->plan = xcalloc(1, sizeof *pod->plan);
	pod->plan->sockets = pod->plan->threads = pod->plan->cores = 1;
	pod->plan->dedicated_cpus = true;
	pod_start(pod);
	return pod;
}

/* Run the loop until the pod has gone, or gone on. */
static void until_decided(struct fixture *f)
{
	while (!went_on && f->lab->h.pods)
		assert_true(sd_event_run(f->lab->h.event, UINT64_MAX) >= 0);
}

static void test_waits(void **state)
{
	struct fixture *f = *state;
	cpu_set_t zero;

	(void)start(f);
	assert_false(went_on);
	CPU_ZERO(&zero);
	CPU_SET(0, &zero);
	assert_int_equal(cgroup_pod_set_emu_cpus(f->other, UID_B, &zero, &f->lab->err), 0);
	until_decided(f);
	assert_true(went_on);
	assert_non_null(f->lab->h.pods);
}

static void test_refused_when_they_stay(void **state)
{
	struct fixture *f = *state;
	struct cpu_assignment held;

	(void)start(f);
	until_decided(f);
	assert_false(went_on);
	assert_int_equal(store_cpus_of(f->lab->h.store, UID_A, &held, &f->lab->err), 0);
	assert_int_equal(CPU_COUNT(&held.all), 0);
}

static void test_deleted_while_it_waits(void **state)
{
	struct fixture *f = *state;

	pod_shutdown(start(f), 0);
	assert_null(f->lab->h.pods);
	lab_settle(f->lab); /* the timer went with the pod */
	assert_false(went_on);
}

/* Another root's claim and its end are followed, by the file alone. */
static void test_follows_claims(void **state)
{
	struct fixture *f = *state;
	struct handler other = f->lab->h;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(1, &one);
	(void)snprintf(other.paths.tag, sizeof other.paths.tag, "%s", "00000000");
	assert_int_equal(hostcpus_watch(&f->lab->h, &f->lab->err), 0);
	assert_int_equal(hostcpus_take(&other, UID_B, "default/b", &one, &f->lab->err), 0);
	while (!CPU_EQUAL(&f->lab->h.others_cpus, &one))
		assert_true(sd_event_run(f->lab->h.event, UINT64_MAX) >= 0);
	assert_int_equal(hostcpus_free(&other, UID_B, &f->lab->err), 0);
	while (CPU_COUNT(&f->lab->h.others_cpus))
		assert_true(sd_event_run(f->lab->h.event, UINT64_MAX) >= 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_waits),
		TEST(test_refused_when_they_stay),
		TEST(test_deleted_while_it_waits),
		TEST(test_follows_claims),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}
