// SPDX-License-Identifier: Apache-2.0
/*
 * Cpusets: placement of threads, exclusivity, live changes, drift. Needs two CPUs: the vCPU's is
 * the last one of the host, all else runs on the first.
 */
#include "tests/unit/cgroups/fixture.h"

#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>

static int last_cpu;

/* emu on CPU 0; with_vcpu: the last CPU dedicated */
static struct cgroup_pod_spec two_cpu_spec(const char *uid, bool with_vcpu)
{
	struct cgroup_pod_spec s = fix_spec(uid);

	if (with_vcpu)
		CPU_SET(last_cpu, &s.vcpu);
	return s;
}

static cpu_set_t one(int cpu)
{
	cpu_set_t s;

	CPU_ZERO(&s);
	CPU_SET(cpu, &s);
	return s;
}

static const char *text_at(json_t *j, const char *a, const char *b, const char *c)
{
	json_t *v = json_object_get(json_object_get(j, a), b);
	const char *s = json_string_value(c ? json_object_get(v, c) : v);

	return s ? s : "(none)";
}

static json_t *read_pod(struct fixture *f, const char *uid)
{
	struct err err = {0};
	json_t *j = NULL;

	if (cgroup_pod_read(f->host, uid, &j, &err) < 0)
		fail_msg("read: %s", err.msg);
	return j;
}

static bool exclusivity_is(struct fixture *f, const char *uid, const char *want)
{
	json_t *j = read_pod(f, uid);
	const char *have = json_string_value(json_object_get(j, "exclusivity"));
	bool same = str_eq(have, want);

	if (!same)
		print_error("exclusivity of %s: %s\n", uid, have ? have : "null");
	json_decref(j);
	return same;
}

/* A process with one more thread, which tells its tid and, when asked, the CPUs it may run on. */
struct threads {
	int sock[2];
};

static void *second_thread(void *arg)
{
	struct threads *t = arg;
	pid_t tid = gettid();
	char byte;

	if (write(t->sock[1], &tid, sizeof tid) != sizeof tid)
		_exit(EXIT_FAILED);
	while (read(t->sock[1], &byte, 1) == 1) {
		cpu_set_t set;
		int cpu;

		if (sched_getaffinity(0, sizeof set, &set) < 0)
			_exit(EXIT_FAILED);
		cpu = sched_getcpu();
		if (write(t->sock[1], &set, sizeof set) != sizeof set ||
		    write(t->sock[1], &cpu, sizeof cpu) != sizeof cpu)
			_exit(EXIT_FAILED);
	}
	_exit(0);
}

static int two_threads(void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, second_thread, arg))
		return EXIT_FAILED;
	return fix_idle(NULL);
}

static void ask_cpus(struct threads *t, cpu_set_t *set, int *cpu)
{
	assert_int_equal(write(t->sock[0], "x", 1), 1);
	assert_int_equal(read(t->sock[0], set, sizeof *set), sizeof *set);
	assert_int_equal(read(t->sock[0], cpu, sizeof *cpu), sizeof *cpu);
}

static pid_t start_threads(struct fixture *f, struct threads *t, const char *uid, pid_t *pid)
{
	pid_t tid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, t->sock), 0);
	*pid = fix_spawn(f, uid, two_threads, t);
	assert_int_equal(read(t->sock[0], &tid, sizeof tid), sizeof tid);
	return tid;
}

static void stop_threads(struct threads *t)
{
	(void)close(t->sock[0]);
	(void)close(t->sock[1]);
}

static void test_vcpu_thread_runs_on_its_cpu_only(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = two_cpu_spec(UID_A, true);
	cpu_set_t set, first = one(0), last = one(last_cpu);
	struct err err = {0};
	struct threads t;
	pid_t pid, tid;
	bool ours;
	int cpu;

	fix_create(f, &spec);
	tid = start_threads(f, &t, UID_A, &pid);
	ask_cpus(&t, &set, &cpu);
	assert_true(CPU_EQUAL(&set, &first));
	assert_int_equal(cpu, 0);
	assert_int_equal(cgroup_pod_place(f->host, UID_A, tid, CGROUP_VCPU, &err), 0);
	ask_cpus(&t, &set, &cpu);
	assert_true(CPU_EQUAL(&set, &last));
	assert_int_equal(cpu, last_cpu);
	/* the other thread stays, both are the pod's */
	assert_int_equal(sched_getaffinity(pid, sizeof set, &set), 0);
	assert_true(CPU_EQUAL(&set, &first));
	assert_int_equal(cgroup_pod_has_task(f->host, UID_A, tid, &ours, &err), 0);
	assert_true(ours);
	assert_int_equal(cgroup_pod_place(f->host, UID_A, tid, CGROUP_EMU, &err), 0);
	ask_cpus(&t, &set, &cpu);
	assert_true(CPU_EQUAL(&set, &first));
	stop_threads(&t);
}

static void test_read_shows_threads_where_they_are(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = two_cpu_spec(UID_A, true);
	struct err err = {0};
	char last[16], path[128];
	struct threads t;
	pid_t pid, tid;
	json_t *j, *tasks;

	fix_create(f, &spec);
	tid = start_threads(f, &t, UID_A, &pid);
	assert_int_equal(cgroup_pod_place(f->host, UID_A, tid, CGROUP_VCPU, &err), 0);
	j = read_pod(f, UID_A);
	(void)snprintf(last, sizeof last, "%d", last_cpu);
	assert_string_equal(text_at(j, "cpuset", "emu", "cpus"), "0");
	assert_string_equal(text_at(j, "cpuset", "vcpu", "cpus"), last);
	assert_string_equal(text_at(j, "cpuset", "vcpu", "effectiveCpus"), last);
	(void)snprintf(path, sizeof path, "/virtpod-%s." UID_A ".vcpu", fix_tag);
	assert_string_equal(text_at(j, "paths", "cpusetVcpu", NULL), path);
	tasks = json_object_get(j, "tasks");
	assert_int_equal(json_array_size(json_object_get(tasks, "cpusetVcpu")), 1);
	assert_int_equal(
		json_integer_value(json_array_get(json_object_get(tasks, "cpusetVcpu"), 0)), tid);
	assert_int_equal(json_array_size(json_object_get(tasks, "cpuset")), 1);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(tasks, "cpuset"), 0)),
			 pid);
	assert_int_equal(json_array_size(json_object_get(tasks, "unified")), 2);
	assert_int_equal(json_array_size(json_object_get(tasks, "memory")), 2);
	json_decref(j);
	stop_threads(&t);
}

static void test_strangers_are_not_moved(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec a = two_cpu_spec(UID_A, true), b = two_cpu_spec(UID_B, false);
	struct err err = {0};
	pid_t of_b;

	fix_create(f, &a);
	fix_create(f, &b);
	of_b = fix_spawn(f, UID_B, fix_idle, NULL);
	assert_int_equal(cgroup_pod_place(f->host, UID_A, of_b, CGROUP_VCPU, &err), -EPERM);
	err_clear(&err);
	assert_int_equal(cgroup_pod_place(f->host, UID_A, getpid(), CGROUP_EMU, &err), -EPERM);
	err_clear(&err);
	assert_int_equal(cgroup_pod_place(f->host, UID_A, 1, CGROUP_EMU, &err), -EPERM);
	err_clear(&err);
	/* no dedicated CPUs, no vCPU group */
	assert_int_equal(cgroup_pod_place(f->host, UID_B, of_b, CGROUP_VCPU, &err), -ENOENT);
}

static void test_exclusivity(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec shared = two_cpu_spec(UID_B, false);
	struct cgroup_pod_spec dedicated = two_cpu_spec(UID_A, true);
	cpu_set_t first = one(0), both = first;
	struct err err = {0};

	/* a sibling that overlaps: the ledger's word only */
	CPU_SET(last_cpu, &both);
	shared.emu = both;
	fix_create(f, &shared);
	assert_true(exclusivity_is(f, UID_B, NULL));
	dedicated.exclusive = true;
	assert_int_equal(cgroup_pod_create(f->host, &dedicated, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, "other cpuset holds them"));
	err_clear(&err);
	assert_false(fix_group_there("cpuset", "." UID_A ".vcpu"));
	dedicated.exclusive = false;
	fix_create(f, &dedicated);
	assert_true(exclusivity_is(f, UID_A, "ledger"));
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	dedicated.exclusive = true;

	/* the shared pool shrinks first, as a handler does it: then it is the kernel's */
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_B, &first, &err), 0);
	fix_create(f, &dedicated);
	assert_true(exclusivity_is(f, UID_A, "kernel"));
	assert_string_equal(fix_file("cpuset", "." UID_A ".vcpu", "cpuset.cpu_exclusive"), "1");

	/* and then nobody else gets that CPU: neither a pool that grows nor a new pod */
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_B, &both, &err), -EINVAL);
	err_clear(&err);
	assert_string_equal(fix_file("cpuset", "/pod-" UID_B, "cpuset.cpus"), "0");
	assert_int_equal(cgroup_pod_destroy(f->host, UID_B, &err), 0);
	assert_true(cgroup_pod_create(f->host, &shared, &err) < 0);
	assert_false(fix_group_there("cpuset", "/pod-" UID_B));
	assert_true(exclusivity_is(f, UID_A, "kernel"));
}

static void test_emu_never_meets_own_vcpus(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = two_cpu_spec(UID_A, true);
	cpu_set_t last = one(last_cpu), none;
	struct err err = {0};

	CPU_ZERO(&none);
	fix_create(f, &spec);
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_A, &last, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "vCPUs"));
	err_clear(&err);
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_A, &none, &err), -EINVAL);
	assert_string_equal(fix_file("cpuset", "/pod-" UID_A, "cpuset.cpus"), "0");
}

static void test_pool_shrinks_and_grows_live(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec a = two_cpu_spec(UID_A, false), b = two_cpu_spec(UID_B, false);
	cpu_set_t first = one(0), last = one(last_cpu), both = first, set;
	struct err err = {0};
	pid_t pid;

	CPU_SET(last_cpu, &both);
	a.emu = b.emu = both;
	fix_create(f, &a);
	fix_create(f, &b);
	pid = fix_spawn(f, UID_A, fix_idle, NULL);
	assert_int_equal(sched_getaffinity(pid, sizeof set, &set), 0);
	assert_true(CPU_EQUAL(&set, &both));
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_A, &last, &err), 0);
	assert_int_equal(sched_getaffinity(pid, sizeof set, &set), 0);
	assert_true(CPU_EQUAL(&set, &last));
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_B, &first, &err), 0);
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_A, &both, &err), 0);
	assert_int_equal(sched_getaffinity(pid, sizeof set, &set), 0);
	assert_true(CPU_EQUAL(&set, &both));
}

/* Our top group holds what its pods have and gives back what they leave. */
static void test_top_group_follows_its_pods(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec a = two_cpu_spec(UID_A, false), b = two_cpu_spec(UID_B, false);
	struct err err = {0};
	char last[16];

	(void)snprintf(last, sizeof last, "%d", last_cpu);
	b.emu = one(last_cpu);
	fix_create(f, &a);
	assert_string_equal(fix_file("cpuset", "", "cpuset.cpus"), "0");
	fix_create(f, &b);
	assert_string_not_equal(fix_file("cpuset", "", "cpuset.cpus"), "0");
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	assert_string_equal(fix_file("cpuset", "", "cpuset.cpus"), last);
}

/* Somebody else rewrites a group: reading shows the kernel's word, setting repairs it. */
static void test_drift_is_seen_and_repaired(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = two_cpu_spec(UID_A, false);
	cpu_set_t both = one(0);
	struct err err = {0};
	char path[256];
	json_t *j;

	CPU_SET(last_cpu, &both);
	spec.emu = both;
	fix_create(f, &spec);
	(void)snprintf(path, sizeof path,
		       CGROUP_MOUNTS "/cpuset/virtpod-%s/pod-" UID_A "/cpuset.cpus", fix_tag);
	assert_int_equal(file_write_at(AT_FDCWD, path, "0"), 0);
	j = read_pod(f, UID_A);
	assert_string_equal(text_at(j, "cpuset", "emu", "cpus"), "0");
	json_decref(j);
	(void)snprintf(path, sizeof path, CGROUP_MOUNTS "/cpuset/virtpod-%s/cpuset.cpus", fix_tag);
	assert_int_equal(file_write_at(AT_FDCWD, path, "0"), 0);
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_A, &both, &err), 0);
	j = read_pod(f, UID_A);
	assert_string_not_equal(text_at(j, "cpuset", "emu", "effectiveCpus"), "0");
	json_decref(j);
}

/* What another root finds of our pods: tasks, by the CPUs they may run on; its own never. */
static void test_foreign(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = two_cpu_spec(UID_A, false);
	struct cgroup_host *other = NULL;
	cpu_set_t last = one(last_cpu), zero = one(0);
	struct foreign_task task = {0};
	struct err err = {0};
	char tag[9];
	pid_t pid;

	(void)snprintf(tag, sizeof tag, "%s", fix_tag);
	tag[0] = tag[0] == '0' ? '1' : '0';
	assert_int_equal(cgroup_host_open(tag, &other, &err), 0);
	CPU_SET(last_cpu, &spec.emu);
	fix_create(f, &spec);
	/* a group without tasks keeps nobody off */
	assert_int_equal(cgroup_find_foreign(other, &last, &task, &err), 0);
	pid = fix_spawn(f, UID_A, fix_idle, NULL);
	assert_int_equal(cgroup_find_foreign(other, &last, &task, &err), 1);
	assert_int_equal(task.pid, pid);
	assert_true(CPU_EQUAL(&task.cpus, &last));
	assert_int_equal(cgroup_find_foreign(f->host, &last, &task, &err), 0);
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_A, &zero, &err), 0);
	assert_int_equal(cgroup_find_foreign(other, &last, &task, &err), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	(void)fix_wait(f, pid);
	cgroup_host_free(other);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fix_setup, fix_teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		T(test_vcpu_thread_runs_on_its_cpu_only),
		T(test_read_shows_threads_where_they_are),
		T(test_strangers_are_not_moved),
		T(test_exclusivity),
		T(test_emu_never_meets_own_vcpus),
		T(test_pool_shrinks_and_grows_live),
		T(test_top_group_follows_its_pods),
		T(test_drift_is_seen_and_repaired),
		T(test_foreign),
	};

	last_cpu = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
	if (last_cpu < 1) {
		print_error("[  FAILED  ] these tests need two CPUs\n");
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return fix_main(run);
}
