// SPDX-License-Identifier: Apache-2.0
/* What the tests of cpusets share: pods with CPUs, and a process whose threads tell where they run. */
#pragma once

#include "tests/unit/cgroups/fixture.h"

#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>

static int last_cpu;

/* emu on CPU 0; with_vcpu: the last CPU dedicated */
static inline struct cgroup_pod_spec two_cpu_spec(const char *uid, bool with_vcpu)
{
	struct cgroup_pod_spec s = fix_spec(uid);

	if (with_vcpu)
		CPU_SET(last_cpu, &s.vcpu);
	return s;
}

static inline cpu_set_t one(int cpu)
{
	cpu_set_t s;

	CPU_ZERO(&s);
	CPU_SET(cpu, &s);
	return s;
}

static inline const char *text_at(json_t *j, const char *a, const char *b, const char *c)
{
	json_t *v = json_object_get(json_object_get(j, a), b);
	const char *s = json_string_value(c ? json_object_get(v, c) : v);

	return s ? s : "(none)";
}

static inline json_t *read_pod(struct fixture *f, const char *uid)
{
	struct err err = {0};
	json_t *j = NULL;

	if (cgroup_pod_read(f->host, uid, &j, &err) < 0)
		fail_msg("read: %s", err.msg);
	return j;
}

/* Are exactly these two (b 0: one) the tasks that reading shows in this group? */
static inline bool tasks_are(json_t *j, const char *group, pid_t a, pid_t b)
{
	json_t *tasks = json_object_get(json_object_get(j, "tasks"), group), *task;
	size_t i, found = 0;

	json_array_foreach (tasks, i, task)
		found += json_integer_value(task) == a || (b && json_integer_value(task) == b);
	return found == json_array_size(tasks) && found == (b ? 2 : 1);
}

static inline bool exclusivity_is(struct fixture *f, const char *uid, const char *want)
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

static inline void *second_thread(void *arg)
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

static inline int two_threads(void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, second_thread, arg))
		return EXIT_FAILED;
	return fix_idle(NULL);
}

static inline void ask_cpus(struct threads *t, cpu_set_t *set, int *cpu)
{
	assert_int_equal(write(t->sock[0], "x", 1), 1);
	assert_int_equal(read(t->sock[0], set, sizeof *set), sizeof *set);
	assert_int_equal(read(t->sock[0], cpu, sizeof *cpu), sizeof *cpu);
}

static inline pid_t start_threads(struct fixture *f, struct threads *t, const char *uid, pid_t *pid)
{
	pid_t tid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, t->sock), 0);
	*pid = fix_spawn(f, uid, two_threads, t);
	assert_int_equal(read(t->sock[0], &tid, sizeof tid), sizeof tid);
	return tid;
}

static inline void stop_threads(struct threads *t)
{
	(void)close(t->sock[0]);
	(void)close(t->sock[1]);
}

/* For run(): is this host large enough? */
static inline bool have_cpus(int n)
{
	last_cpu = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
	if (last_cpu >= n - 1)
		return true;
	print_error("[  FAILED  ] these tests need %d CPUs\n", n);
	return false;
}
