// SPDX-License-Identifier: Apache-2.0
/*
 * v2's partitions: a pod that has its CPUs to itself, by the kernel's word. v1 has nothing of it, which
 * is what is tested there. A partition leaves the host a CPU, so it takes three; where there are two,
 * what is tested is that nothing is promised. The last CPU is the vCPU's, the one before the emulator's.
 */
#include "tests/unit/cgroups/cpuset.h"

#include <poll.h>
#include <sys/file.h>

#define SIDE_A	  "." UID_A
#define SIDE_B	  "." UID_B
#define PARTITION "cpuset.cpus.partition"
#define TRY_UID	  "00000000-0000-4000-8000-000000000000"
#define STRANGER  CGROUP_MOUNTS "/vttest-stranger"
#define BESIDE	  ".beside" /* a group beside the pods' that somebody else made */

static int teardown(void **state)
{
	(void)rmdir(fix_path("", BESIDE, NULL));
	return fix_teardown(state);
}

static struct cgroup_pod_spec side_spec(const char *uid)
{
	struct cgroup_pod_spec s = two_cpu_spec(uid, true);

	s.emu = one(last_cpu - 1);
	s.emu_own = s.exclusive = true;
	return s;
}

static const char *cpu_text(int cpu)
{
	static char text[16];

	(void)snprintf(text, sizeof text, "%d", cpu);
	return text;
}

static cpu_set_t root_cpus(void)
{
	char text[CPUS_TEXT_MAX];
	cpu_set_t set;

	assert_int_equal(file_read_line_at(AT_FDCWD, CGROUP_MOUNTS "/cpuset.cpus.effective", text,
					   sizeof text),
			 0);
	assert_int_equal(cpus_parse(text, &set), 0);
	return set;
}

/* The controllers of the root are switched on by the first pod, and stay. */
static void make_beside(struct fixture *f, const char *cpus)
{
	struct cgroup_pod_spec spec = fix_spec(UID_B);
	struct err err = {0};

	fix_create(f, &spec);
	assert_int_equal(cgroup_pod_destroy(f->host, UID_B, &err), 0);
	fix_make_group("", BESIDE);
	assert_int_equal(fix_write("", BESIDE, "cpuset.cpus", cpus), 0);
}

static bool valid(const char *side)
{
	char child[64];

	(void)snprintf(child, sizeof child, "%s/vcpu", side);
	return str_eq(fix_file("", side, PARTITION), "root") &&
	       str_eq(fix_file("", child, PARTITION), "isolated");
}

static void refused(struct fixture *f, const struct cgroup_pod_spec *spec, int code,
		    const char *words)
{
	struct err err = {0};

	assert_int_equal(cgroup_pod_create(f->host, spec, &err), code);
	if (!strstr(err.msg, words))
		fail_msg("'%s' lacks '%s'", err.msg, words);
}

/* With no group for it to be tried in before some pod, or somebody else, has switched cpuset on. */
static void test_try_takes_no_cpu(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};

	make_beside(f, "");
	assert_int_equal(mkdir(fix_path("", "." TRY_UID, NULL), 0755),
			 0); /* of one that was killed */
	cpu_set_t before = root_cpus(), after;
	int r = cgroup_partition_try(f->host, &err);

	if (r < 0)
		fail_msg("%s", err.msg);
	after = root_cpus();
	assert_true(CPU_EQUAL(&before, &after));
	assert_int_equal(access(fix_path("", "." TRY_UID, NULL), F_OK), -1);
}

static void test_try_names_who_is_in_the_way(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};

	make_beside(f, "0");
	/* the one beside them bears our tag, as no other group here may; so it is taken for a pod's */
	assert_int_equal(cgroup_partition_try(f->host, &err), 0);
	assert_int_equal(mkdir(STRANGER, 0755), 0);
	assert_int_equal(file_write_at(AT_FDCWD, STRANGER "/cpuset.cpus", "0"), 0);
	assert_int_equal(cgroup_partition_try(f->host, &err), -ENOTSUP);
	assert_int_equal(rmdir(STRANGER), 0);
	assert_non_null(strstr(err.msg, "cgroup /vttest-stranger/cpuset.cpus holds CPU 0"));
	assert_int_equal(access(fix_path("", "." TRY_UID, NULL), F_OK), -1);
}

static void test_one_tries_at_a_time(void **state)
{
	struct fixture *f = *state;
	_cleanup_fd_ int fd = open(CGROUP_MOUNTS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err err = {0};

	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(cgroup_partition_try(f->host, &err), -EBUSY);
	assert_non_null(strstr(err.msg, "another process"));
}

static void test_pod_has_its_cpus_to_itself(void **state)
{
	struct fixture *f = *state;
	struct cgroup_device null_all = {'c', 1, 3, false, "rwm"};
	struct cgroup_pod_spec spec = side_spec(UID_A);
	cpu_set_t before = root_cpus(), set;
	struct err err = {0};
	json_t *j;

	spec.limits.pids_max = 33;
	spec.devices = &null_all;
	spec.n_devices = 1;
	CPU_SET(0, &spec.mems);
	fix_create(f, &spec);
	assert_true(valid(SIDE_A));
	assert_string_equal(fix_file("", SIDE_A, "pids.max"), "33");
	assert_string_equal(fix_file("", SIDE_A, "cpuset.mems"), "0");
	assert_string_equal(fix_file("", SIDE_A "/vcpu", "cgroup.type"), "threaded");
	/* the top group keeps the controllers on for it, and never has a CPU of its own */
	assert_string_equal(fix_file("", "", "cpuset.cpus"), "");
	assert_string_equal(fix_file("", "", "cgroup.subtree_control"), "cpuset cpu memory pids");
	j = read_pod(f, UID_A);
	assert_string_equal(json_string_value(json_object_get(j, "exclusivity")), "kernel");
	assert_string_equal(text_at(j, "cpuset", "partition", "pod"), "root");
	assert_string_equal(text_at(j, "cpuset", "partition", "vcpu"), "isolated");
	assert_string_equal(text_at(j, "cpuset", "emu", "effectiveCpus"), cpu_text(last_cpu - 1));
	assert_string_equal(text_at(j, "cpuset", "vcpu", "effectiveCpus"), cpu_text(last_cpu));
	assert_int_equal(json_array_size(json_object_get(j, "devices")), 1);
	json_decref(j);

	/* everybody else has the rest, this process too, and gets them back */
	set = root_cpus();
	assert_false(CPU_ISSET(last_cpu, &set) || CPU_ISSET(last_cpu - 1, &set));
	assert_true(CPU_COUNT(&set) == CPU_COUNT(&before) - 2);
	assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
	assert_false(CPU_ISSET(last_cpu, &set) || CPU_ISSET(last_cpu - 1, &set));
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	set = root_cpus();
	assert_true(CPU_EQUAL(&set, &before));
}

/* A VM that is started again gets the CPUs that it had: they are free when the pod is gone. */
static void test_again_and_again(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec a = side_spec(UID_A), b = side_spec(UID_B);
	struct err err = {0};

	for (int i = 0; i < 10; i++) {
		fix_create(f, i % 2 ? &a : &b);
		assert_int_equal(cgroup_pod_destroy(f->host, i % 2 ? UID_A : UID_B, &err), 0);
	}
}

static void test_threads_in_a_partition(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = side_spec(UID_A);
	cpu_set_t set, emu = one(last_cpu - 1), vcpu = one(last_cpu);
	_cleanup_fd_ int events = -1;
	struct pollfd p = {.events = POLLPRI};
	struct err err = {0};
	struct threads t;
	char text[256];
	pid_t pid, tid;
	bool yes;
	json_t *j;
	int cpu;

	fix_create(f, &spec);
	tid = start_threads(f, &t, UID_A, &pid);
	ask_cpus(&t, &set, &cpu);
	assert_true(CPU_EQUAL(&set, &emu));
	assert_int_equal(cgroup_pod_place(f->host, UID_A, getpid(), CGROUP_VCPU, &err), -EPERM);
	err_clear(&err);
	assert_int_equal(cgroup_pod_place(f->host, UID_A, tid, CGROUP_VCPU, &err), 0);
	ask_cpus(&t, &set, &cpu);
	assert_true(CPU_EQUAL(&set, &vcpu));
	assert_int_equal(cpu, last_cpu);
	j = read_pod(f, UID_A);
	assert_true(tasks_are(j, "emu", pid, 0));
	assert_true(tasks_are(j, "vcpu", tid, 0));
	json_decref(j);
	assert_int_equal(cgroup_pod_has_task(f->host, UID_A, tid, &yes, &err), 0);
	assert_true(yes);

	/* removal, events and kill look into this place, too */
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), -EBUSY);
	err_clear(&err);
	assert_true(valid(SIDE_A));
	assert_int_equal(cgroup_pod_events(f->host, UID_A, &events, &err), 0);
	p.fd = events;
	assert_true(pread(events, text, sizeof text, 0) > 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(cgroup_pod_kill(f->host, UID_A, &err), 0);
	assert_true(WIFSIGNALED(fix_wait(f, pid)));
	assert_int_equal(poll(&p, 1, 10000), 1);
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	assert_false(fix_group_there("", SIDE_A));
	stop_threads(&t);
}

/* Nothing is made: the write would succeed, and end the partition of who has the CPU. */
static void test_who_has_the_cpu_is_named(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec a = side_spec(UID_A), b = side_spec(UID_B);
	struct err err = {0};

	make_beside(f, cpu_text(last_cpu));
	refused(f, &a, -ENOTSUP, BESIDE "/cpuset.cpus holds CPU");
	refused(f, &a, -ENOTSUP, cpu_text(last_cpu));
	assert_false(fix_group_there("", SIDE_A));
	assert_int_equal(fix_write("", BESIDE, "cpuset.cpus", "0"), 0);
	fix_create(f, &b);
	refused(f, &a, -ENOTSUP, SIDE_B "/cpuset.cpus holds CPU");
	assert_false(fix_group_there("", SIDE_A));
	assert_true(valid(SIDE_B));
	assert_int_equal(cgroup_pod_destroy(f->host, UID_B, &err), 0);
	fix_create(f, &a);
	assert_true(valid(SIDE_A));
}

static void test_taken_cpu_is_nobody_elses(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec a = side_spec(UID_A), b = two_cpu_spec(UID_B, true);
	cpu_set_t both = one(0);
	struct err err = {0};
	char words[64];

	(void)snprintf(words, sizeof words, "CPUs %d asked for, but offline or in a partition",
		       last_cpu);
	fix_create(f, &a);
	refused(f, &b, -EINVAL, words);
	assert_false(fix_group_there("", "/pod-" UID_B));
	CPU_ZERO(&b.vcpu);
	fix_create(f, &b);
	assert_true(exclusivity_is(f, UID_B, NULL));
	/* a pool that grows onto it: granted less than asked for, which is an error */
	CPU_SET(last_cpu, &both);
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_B, &both, &err), -EIO);
	assert_non_null(strstr(err.msg, "the kernel grants 0"));
	assert_true(valid(SIDE_A));
}

/* The host has the CPU, but somebody gave our top group fewer. */
static void test_fewer_cpus_than_asked_for(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec a = two_cpu_spec(UID_A, false), b = two_cpu_spec(UID_B, false);

	fix_create(f, &a);
	assert_int_equal(fix_write("", "", "cpuset.cpus", "0"), 0);
	CPU_SET(last_cpu, &b.emu);
	refused(f, &b, -EIO, "the kernel grants 0");
	assert_false(fix_group_there("", "/pod-" UID_B));
	assert_true(fix_group_there("", "/pod-" UID_A));
}

static void test_events_tell_of_an_overlap(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec a = side_spec(UID_A), b = two_cpu_spec(UID_B, false);
	struct pollfd p = {.events = POLLPRI};
	_cleanup_fd_ int fd = -1;
	struct err err = {0};
	char text[256];
	int none = -1;
	ssize_t n;
	json_t *j;

	make_beside(f, "0");
	fix_create(f, &a);
	assert_int_equal(cgroup_pod_partition_events(f->host, UID_A, CGROUP_EMU, &fd, &err), 0);
	p.fd = fd;
	assert_true(pread(fd, text, sizeof text, 0) > 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(fix_write("", BESIDE, "cpuset.cpus", cpu_text(last_cpu)), 0);
	assert_int_equal(poll(&p, 1, 10000), 1);
	assert_true(p.revents & POLLPRI);
	n = pread(fd, text, sizeof text - 1, 0);
	assert_true(n > 0);
	text[n] = 0;
	assert_non_null(strstr(text, "root invalid ("));
	assert_true(exclusivity_is(f, UID_A, "ledger"));
	j = read_pod(f, UID_A);
	assert_non_null(strstr(text_at(j, "cpuset", "partition", "pod"), "root invalid ("));
	json_decref(j);

	fix_create(f, &b);
	assert_int_equal(cgroup_pod_partition_events(f->host, UID_B, CGROUP_EMU, &none, &err),
			 -ENOENT);
	assert_int_equal(none, -1);
}

static void assert_in_place(struct fixture *f, pid_t pid, pid_t tid)
{
	cpu_set_t set, emu = one(last_cpu - 1), vcpu = one(last_cpu);
	json_t *j = read_pod(f, UID_A);

	assert_true(tasks_are(j, "emu", pid, 0));
	assert_true(tasks_are(j, "vcpu", tid, 0));
	json_decref(j);
	assert_int_equal(sched_getaffinity(pid, sizeof set, &set), 0);
	assert_true(CPU_EQUAL(&set, &emu));
	assert_int_equal(sched_getaffinity(tid, sizeof set, &set), 0);
	assert_true(CPU_EQUAL(&set, &vcpu));
}

static int repair(struct fixture *f, const char *uid, struct err *err)
{
	struct cgroup_pod_spec spec = side_spec(uid);

	return cgroup_pod_repair(f->host, uid, &spec.emu, &spec.vcpu, err);
}

/* Somebody changes the sets themselves, which is no change of a partition's state, or takes them away. */
static void test_sets_are_repaired(void **state)
{
	static const char *const groups[] = {SIDE_A, SIDE_A "/emu", SIDE_A "/vcpu"};
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = side_spec(UID_A);
	struct err err = {0};
	struct threads t;
	pid_t pid, tid;

	fix_create(f, &spec);
	tid = start_threads(f, &t, UID_A, &pid);
	assert_int_equal(cgroup_pod_place(f->host, UID_A, tid, CGROUP_VCPU, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		assert_int_equal(fix_write("", groups[i], "cpuset.cpus", cpu_text(last_cpu)), 0);
		if (repair(f, UID_A, &err) < 0)
			fail_msg("%s: %s", groups[i], err.msg);
		assert_true(valid(SIDE_A));
		assert_true(exclusivity_is(f, UID_A, "kernel"));
		assert_in_place(f, pid, tid);
	}
	assert_int_equal(fix_write("", SIDE_A, "cgroup.subtree_control", "-cpuset"), 0);
	if (repair(f, UID_A, &err) != 1)
		fail_msg("cpuset off and on: %s", err.msg);
	assert_true(exclusivity_is(f, UID_A, "kernel"));
	assert_in_place(f, pid, tid);
	stop_threads(&t);
}

static void test_repair(void **state)
{
	struct fixture *f = *state;
	struct pollfd p = {.events = POLLPRI};
	char text[256];
	struct cgroup_pod_spec spec = side_spec(UID_A);
	struct err err = {0};
	struct threads t;
	pid_t pid, tid;

	make_beside(f, "0");
	fix_create(f, &spec);
	tid = start_threads(f, &t, UID_A, &pid);
	assert_int_equal(cgroup_pod_place(f->host, UID_A, tid, CGROUP_VCPU, &err), 0);
	assert_int_equal(repair(f, UID_A, &err), 0);

	/* as long as the cause stands it is named, and nothing is tried */
	assert_int_equal(fix_write("", BESIDE, "cpuset.cpus", cpu_text(last_cpu)), 0);
	assert_false(valid(SIDE_A));
	assert_int_equal(repair(f, UID_A, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, BESIDE "/cpuset.cpus holds CPU"));
	err_clear(&err);
	assert_false(valid(SIDE_A));
	assert_int_equal(fix_write("", BESIDE, "cpuset.cpus", "0"), 0);
	assert_int_equal(repair(f, UID_A, &err), 1);
	assert_true(valid(SIDE_A));
	assert_true(exclusivity_is(f, UID_A, "kernel"));
	assert_in_place(f, pid, tid);
	assert_int_equal(repair(f, UID_A, &err), 0);

	/* the children's alone, which has a file of its own to tell */
	assert_int_equal(cgroup_pod_partition_events(f->host, UID_A, CGROUP_VCPU, &p.fd, &err), 0);
	assert_true(pread(p.fd, text, sizeof text, 0) > 0);
	assert_int_equal(fix_write("", SIDE_A "/vcpu", PARTITION, "member"), 0);
	assert_int_equal(poll(&p, 1, 10000), 1);
	(void)close(p.fd);
	assert_true(exclusivity_is(f, UID_A, "ledger"));
	assert_int_equal(repair(f, UID_A, &err), 1);
	assert_true(valid(SIDE_A));
	assert_in_place(f, pid, tid);
	/* and both */
	assert_int_equal(fix_write("", SIDE_A, PARTITION, "member"), 0);
	assert_false(valid(SIDE_A));
	assert_int_equal(repair(f, UID_A, &err), 1);
	assert_true(valid(SIDE_A));
	assert_in_place(f, pid, tid);
	stop_threads(&t);
}

static void test_cpus_of_a_partition_do_not_change(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = side_spec(UID_A);
	cpu_set_t zero = one(0);
	struct err err = {0};

	fix_create(f, &spec);
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_A, &zero, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "is a partition"));
	assert_string_equal(fix_file("", SIDE_A "/emu", "cpuset.cpus"), cpu_text(last_cpu - 1));
	assert_true(valid(SIDE_A));
}

static void test_both_places_are_one_namespace(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec a = side_spec(UID_A), b = two_cpu_spec(UID_B, false);
	struct err err = {0};
	char **uids = NULL;
	size_t n = 0;

	fix_create(f, &a);
	fix_create(f, &b);
	assert_int_equal(cgroup_list(f->host, &uids, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(uids[0], UID_A);
	assert_string_equal(uids[1], UID_B);
	cgroup_list_free(uids, n);
	/* a uid is taken in either place */
	a.exclusive = false;
	a.emu = one(0);
	CPU_ZERO(&a.vcpu);
	refused(f, &a, -EEXIST, UID_A);
	b = side_spec(UID_B);
	refused(f, &b, -EEXIST, UID_B);
	assert_true(valid(SIDE_A));
	assert_int_equal(cgroup_pod_destroy(f->host, UID_B, &err), 0);
	assert_true(valid(SIDE_A));
}

/* After a crash while it was made: no vCPUs' group yet, no partition, or one of two. */
static void test_half_made_is_removed(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = side_spec(UID_A);
	cpu_set_t before = root_cpus(), after;
	struct err err = {0};
	char left[512];

	fix_make_group("", SIDE_A);
	assert_true(repair(f, UID_A, &err) < 0);
	err_clear(&err);
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	assert_false(fix_find_group(left, sizeof left));
	fix_create(f, &spec);
	assert_int_equal(rmdir(fix_path("", SIDE_A "/vcpu", NULL)), 0);
	assert_string_equal(fix_file("", SIDE_A, PARTITION), "root");
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	assert_false(fix_find_group(left, sizeof left));
	after = root_cpus();
	assert_true(CPU_EQUAL(&before, &after));
}

static void test_failed_create_undoes_itself(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = side_spec(UID_A);
	char left[512];

	spec.limits.cpu_quota_us = 10;
	spec.limits.cpu_period_us = 100000;
	refused(f, &spec, -EINVAL, "cpu.max");
	assert_false(fix_find_group(left, sizeof left));
}

/* All CPUs of the host: the kernel keeps one for everybody else, so this can't be had. */
static void test_no_cpu_left_for_the_host(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	cpu_set_t before = root_cpus(), after;
	char left[512];

	spec.emu_own = spec.exclusive = true;
	for (int cpu = 1; cpu <= last_cpu; cpu++)
		CPU_SET(cpu, &spec.vcpu);
	refused(f, &spec, -ENOTSUP, "partition 'root' was asked for, the kernel says");
	assert_false(fix_find_group(left, sizeof left));
	after = root_cpus();
	assert_true(CPU_EQUAL(&before, &after));
}

static void test_plain_pods_have_none(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = two_cpu_spec(UID_A, true);
	struct err err = {0};
	int fd = -1;
	json_t *j;

	fix_create(f, &spec);
	assert_true(exclusivity_is(f, UID_A, "ledger"));
	j = read_pod(f, UID_A);
	assert_true(json_is_null(json_object_get(json_object_get(j, "cpuset"), "partition")));
	json_decref(j);
	assert_int_equal(repair(f, UID_A, &err), 0);
	assert_int_equal(repair(f, UID_B, &err), -ENOENT);
	err_clear(&err);
	assert_int_equal(cgroup_pod_partition_events(f->host, UID_A, CGROUP_EMU, &fd, &err),
			 -ENOENT);
	assert_int_equal(fd, -1);
}

static void test_v1_has_none(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = two_cpu_spec(UID_A, true);
	struct err err = {0};
	int fd = -1;
	json_t *j;

	spec.exclusive = true;
	fix_create(f, &spec);
	assert_true(exclusivity_is(f, UID_A, "kernel"));
	j = read_pod(f, UID_A);
	assert_non_null(json_object_get(json_object_get(j, "cpuset"), "vcpu"));
	assert_null(json_object_get(json_object_get(j, "cpuset"), "partition"));
	json_decref(j);
	assert_int_equal(access(fix_path("cpuset", "/pod-" UID_A, "cpuset.cpus"), F_OK), 0);
	assert_int_equal(access(fix_path("cpuset", "/pod-" UID_A, PARTITION), F_OK), -1);
	assert_int_equal(cgroup_pod_partition_events(f->host, UID_A, CGROUP_EMU, &fd, &err),
			 -ENOENT);
	assert_non_null(strstr(err.msg, "v1 has no partitions"));
	assert_int_equal(fd, -1);
	err_clear(&err);
	assert_int_equal(repair(f, UID_A, &err), 0);
	assert_int_equal(repair(f, UID_B, &err), -ENOENT);
	err_clear(&err);
	assert_int_equal(cgroup_partition_try(f->host, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, "v1 has no partitions"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, fix_setup, teardown)

static int run(void)
{
	const struct CMUnitTest v1[] = {T(test_v1_has_none)};
	const struct CMUnitTest two_cpus[] = {
		T(test_try_takes_no_cpu),	  T(test_try_names_who_is_in_the_way),
		T(test_one_tries_at_a_time),	  T(test_plain_pods_have_none),
		T(test_no_cpu_left_for_the_host), T(test_fewer_cpus_than_asked_for),
	};
	const struct CMUnitTest v2[] = {
		T(test_plain_pods_have_none),
		T(test_no_cpu_left_for_the_host),
		T(test_fewer_cpus_than_asked_for),
		T(test_pod_has_its_cpus_to_itself),
		T(test_again_and_again),
		T(test_threads_in_a_partition),
		T(test_who_has_the_cpu_is_named),
		T(test_taken_cpu_is_nobody_elses),
		T(test_events_tell_of_an_overlap),
		T(test_repair),
		T(test_sets_are_repaired),
		T(test_cpus_of_a_partition_do_not_change),
		T(test_both_places_are_one_namespace),
		T(test_half_made_is_removed),
		T(test_failed_create_undoes_itself),
		T(test_try_takes_no_cpu),
		T(test_try_names_who_is_in_the_way),
		T(test_one_tries_at_a_time),
	};

	if (!have_cpus(2))
		return 1;
	if (!fix_v2)
		return cmocka_run_group_tests(v1, NULL, NULL);
	return last_cpu < 2 ? cmocka_run_group_tests(two_cpus, NULL, NULL)
			    : cmocka_run_group_tests(v2, NULL, NULL);
}

int main(void)
{
	return fix_main(run);
}
