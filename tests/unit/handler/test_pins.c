// SPDX-License-Identifier: Apache-2.0
/*
 * Real threads in a real pod's groups: put where they belong, read back, and each way of not being
 * there found. CPU 0 is for everything, CPU 1 for the one vCPU.
 */
#include "tests/unit/handler/lab.h"

#include "handler/pins.h"

#include <pthread.h>
#include <sys/syscall.h>

enum { VCPU, WORKER, N_THREADS };

struct fixture {
	struct lab *lab;
	struct pod *pod;
	pid_t qemu;
	pid_t tids[N_THREADS]; /* of two threads beside QEMU's main one */
};

static int report_fd;

static void *thread(void *arg)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	(void)arg;
	if (write(report_fd, &tid, sizeof tid) != sizeof tid)
		_exit(1);
	while (pause() < 0)
		;
	return NULL;
}

static void be_qemu(struct cgroup_host *groups)
{
	struct err err = {0};
	pthread_t t;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (cgroup_pod_enter(groups, UID_A, /* born= */ false, &err) < 0) {
		print_error("%s\n", err.msg);
		_exit(1);
	}
	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(&t, NULL, thread, NULL) != 0)
			_exit(1);
	while (pause() < 0)
		;
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);
	struct cgroup_pod_spec spec = {.uid = UID_A};
	struct err err = {0};
	int fds[2];

	f->lab = lab_open(NULL);
	CPU_SET(0, &spec.emu);
	CPU_SET(1, &spec.vcpu);
	if (cgroup_pod_create(f->lab->h.cgroups, &spec, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(pipe(fds), 0);
	report_fd = fds[1];
	f->qemu = fork();
	if (f->qemu == 0)
		be_qemu(f->lab->h.cgroups);
	(void)close(fds[1]);
	assert_int_equal(read(fds[0], &f->tids[0], sizeof(pid_t)), sizeof(pid_t));
	assert_int_equal(read(fds[0], &f->tids[1], sizeof(pid_t)), sizeof(pid_t));
	(void)close(fds[0]);
	f->pod = lab_pod(f->lab, UID_A, "a");
	f->pod->record.pid = f->pod->qemu_pid = f->qemu;
	f->pod->cpus.n_vcpus = 1;
	f->pod->cpus.vcpu[0] = 1;
	f->pod->vcpu_tids[0] = f->tids[VCPU];
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	(void)kill(f->qemu, SIGKILL);
	(void)waitpid(f->qemu, NULL, 0);
	lab_close(f->lab);
	free(f);
	return 0;
}

static int set(struct fixture *f)
{
	err_clear(&f->lab->err);
	return pins_set(f->pod, &f->lab->err);
}

static void assert_verify(struct fixture *f, int code, const char *words)
{
	err_clear(&f->lab->err);
	assert_int_equal(pins_verify(f->pod, &f->lab->err), code);
	if (!strstr(f->lab->err.msg, words))
		fail_msg("'%s' lacks '%s'", f->lab->err.msg, words);
}

static void place(struct fixture *f, pid_t tid, enum cgroup_place where)
{
	if (cgroup_pod_place(f->lab->h.cgroups, UID_A, tid, where, &f->lab->err) < 0)
		fail_msg("%s", f->lab->err.msg);
}

static void test_set(void **state)
{
	struct fixture *f = *state;
	cpu_set_t mask;

	assert_verify(f, -EIO, "must run on CPU 1 alone, runs on 0"); /* nothing is placed yet */
	assert_int_equal(set(f), 0);
	assert_verify(f, 0, "");
	assert_int_equal(sched_getaffinity(f->tids[VCPU], sizeof mask, &mask), 0);
	assert_true(CPU_COUNT(&mask) == 1 && CPU_ISSET(1, &mask));
	assert_int_equal(sched_getaffinity(f->tids[WORKER], sizeof mask, &mask), 0);
	assert_true(CPU_COUNT(&mask) == 1 && CPU_ISSET(0, &mask));
	assert_int_equal(set(f), 0); /* again, as a repair does it */
	assert_verify(f, 0, "");
}

/* Somebody moved the vCPU away, or another thread onto its CPU; setting it right helps the first. */
static void test_drift(void **state)
{
	struct fixture *f = *state;
	_cleanup_json_ json_t *events = NULL;

	assert_int_equal(set(f), 0);
	place(f, f->tids[VCPU], CGROUP_EMU);
	assert_verify(f, -EIO, "must run on CPU 1 alone");
	assert_int_equal(set(f), 0);
	assert_verify(f, 0, "");
	place(f, f->tids[WORKER], CGROUP_VCPU);
	assert_verify(f, -EIO, "no vCPU: may run on dedicated CPUs 1");
	assert_int_equal(pins_repair(f->pod, &f->lab->err), 0); /* both ways at once */
	assert_verify(f, 0, "");
	place(f, f->tids[VCPU], CGROUP_EMU);
	place(f, f->tids[WORKER], CGROUP_VCPU);
	assert_int_equal(pins_repair(f->pod, &f->lab->err), 0);
	assert_verify(f, 0, "");
	assert_int_equal(store_event_list(f->lab->h.store, NULL, &events, &f->lab->err), 0);
	assert_int_equal(json_array_size(events), 2); /* one of each */
	assert_string_equal(json_str(events, "[1].reason"), "PinsRepaired");
	assert_non_null(strstr(json_str(events, "[1].message"), "vCPU 0"));
}

/* Two vCPUs by one thread: a launcher that says so has not two. */
static void test_one_thread_twice(void **state)
{
	struct fixture *f = *state;

	f->pod->cpus.n_vcpus = 2;
	f->pod->cpus.vcpu[1] = 0;
	f->pod->vcpu_tids[1] = f->tids[VCPU];
	assert_int_not_equal(set(f), 0);
	assert_int_not_equal(pins_verify(f->pod, &f->lab->err), 0);
}

/* A thread that is not the pod's is not touched, whoever named it. */
static void test_stranger(void **state)
{
	struct fixture *f = *state;
	cpu_set_t before, after;

	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	f->pod->vcpu_tids[0] = getpid();
	assert_int_equal(set(f), -EPERM);
	assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

static void test_gone(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(kill(f->qemu, SIGKILL), 0);
	assert_int_equal(waitpid(f->qemu, NULL, 0), f->qemu);
	assert_int_equal(set(f), -ESRCH);
	assert_verify(f, -ENOENT, "/proc/");
}

static void test_no_dedicated_cpus(void **state)
{
	struct fixture *f = *state;

	f->pod->cpus.n_vcpus = 0;
	assert_int_equal(set(f), 0);
	assert_verify(f, 0, "");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_set),	     TEST(test_drift), TEST(test_one_thread_twice),
		TEST(test_stranger), TEST(test_gone),  TEST(test_no_dedicated_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}
