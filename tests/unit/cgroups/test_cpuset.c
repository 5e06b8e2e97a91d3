// SPDX-License-Identifier: Apache-2.0
/*
 * Cpusets: placement of threads, live changes, drift, all that both kinds of hosts have. Needs two
 * CPUs: the vCPU's is the last one of the host, all else runs on the first.
 */
#include "tests/unit/cgroups/cpuset.h"

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
	json_t *j;

	fix_create(f, &spec);
	tid = start_threads(f, &t, UID_A, &pid);
	assert_int_equal(cgroup_pod_place(f->host, UID_A, tid, CGROUP_VCPU, &err), 0);
	j = read_pod(f, UID_A);
	(void)snprintf(last, sizeof last, "%d", last_cpu);
	assert_string_equal(text_at(j, "cpuset", "emu", "cpus"), "0");
	assert_string_equal(text_at(j, "cpuset", "vcpu", "cpus"), last);
	assert_string_equal(text_at(j, "cpuset", "vcpu", "effectiveCpus"), last);
	(void)snprintf(path, sizeof path, "/virtpod-%s%s", fix_tag,
		       fix_either("." UID_A ".vcpu", "/pod-" UID_A "/vcpu"));
	assert_string_equal(text_at(j, "paths", fix_either("cpusetVcpu", "vcpu"), NULL), path);
	assert_true(tasks_are(j, fix_either("cpusetVcpu", "vcpu"), tid, 0));
	assert_true(tasks_are(j, fix_either("cpuset", "emu"), pid, 0));
	if (!fix_v2) { /* all but cpuset have one group for both */
		assert_true(tasks_are(j, "unified", pid, tid));
		assert_true(tasks_are(j, "memory", pid, tid));
	}
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
	assert_string_equal(fix_file("cpuset", fix_emu("/pod-" UID_A), "cpuset.cpus"), "0");
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

/* Somebody else rewrites a group: reading shows the kernel's word, setting repairs it. */
static void test_drift_is_seen_and_repaired(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = two_cpu_spec(UID_A, false);
	cpu_set_t both = one(0);
	struct err err = {0};
	json_t *j;

	CPU_SET(last_cpu, &both);
	spec.emu = both;
	fix_create(f, &spec);
	assert_int_equal(fix_write("cpuset", fix_emu("/pod-" UID_A), "cpuset.cpus", "0"), 0);
	j = read_pod(f, UID_A);
	assert_string_equal(text_at(j, "cpuset", "emu", "cpus"), "0");
	json_decref(j);
	if (!fix_v2) /* there the top group has no CPUs of its own to give */
		assert_int_equal(fix_write("cpuset", "", "cpuset.cpus", "0"), 0);
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_A, &both, &err), 0);
	j = read_pod(f, UID_A);
	assert_string_not_equal(text_at(j, "cpuset", "emu", "effectiveCpus"), "0");
	json_decref(j);
}

static void test_nodes(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = two_cpu_spec(UID_A, true);
	struct err err = {0};
	char left[512];
	json_t *j;

	CPU_SET(0, &spec.mems);
	fix_create(f, &spec);
	assert_string_equal(fix_file("cpuset", "/pod-" UID_A, "cpuset.mems"), "0");
	j = read_pod(f, UID_A);
	assert_string_equal(text_at(j, "cpuset", "emu", "mems"), "0");
	assert_string_equal(text_at(j, "cpuset", "vcpu", "mems"), "0");
	json_decref(j);
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	CPU_SET(60, &spec.mems);
	assert_int_equal(cgroup_pod_create(f->host, &spec, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "60"));
	assert_false(fix_find_group(left, sizeof left));
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
		T(test_emu_never_meets_own_vcpus),
		T(test_pool_shrinks_and_grows_live),
		T(test_drift_is_seen_and_repaired),
		T(test_nodes),
		T(test_foreign),
	};

	if (!have_cpus(2))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return fix_main(run);
}
