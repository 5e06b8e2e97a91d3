// SPDX-License-Identifier: Apache-2.0
/*
 * What the tests share that make real groups: a random tag, children inside a pod, and the
 * certainty that nothing stays. The tests run in a child of the test program: whatever ends it
 * (a failed assertion, a sanitizer, a time limit), the parent kills and removes what is left, and
 * calls leftovers a failure.
 *
 * A test of what both kinds of hosts have speaks with fix_either and the paths below. What one kind
 * alone has is in a program of its own, which on the other kind tests what is there instead.
 */
#pragma once

#include "tests/unit/unit.h"

#include "cgroups/cgroup.h"
#include "lib/cpus.h"
#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define UID_A	      "0a0a0a0a-1111-4222-8333-000000000001"
#define UID_B	      "0b0b0b0b-1111-4222-8333-000000000002"
#define TEST_SECONDS  300 /* only a test program that hangs takes as long */
#define EXIT_FAILED   99  /* a child's set-up failed; no test expects this status */
#define CHILDREN_MAX  16
#define CGROUP_MOUNTS "/sys/fs/cgroup"

struct fixture {
	struct cgroup_host *host;
	pid_t children[CHILDREN_MAX];
	unsigned n_children;
};

static char fix_tag[9];
static bool fix_v2;	 /* what the kernel has: one tree with all controllers */
static char fix_dir[64]; /* an empty directory, removed with its content at the end */

/* How the two kinds of hosts spell the same thing. */
static inline const char *fix_either(const char *v1, const char *v2)
{
	return fix_v2 ? v2 : v1;
}

/* Name and path below our top groups of what holds a process that has entered the pod. */
static inline const char *fix_emu(const char *pod)
{
	static char sub[128];

	(void)snprintf(sub, sizeof sub, "%s%s", pod, fix_either("", "/emu"));
	return sub;
}

/* The hierarchies that a pod's groups are in, NULL at the end; v2's one directory has no name. */
static inline const char *const *fix_hiers(void)
{
	static const char *const v1[] = {"cpuset",  "memory",  "pids", "cpu",
					 "devices", "unified", NULL};
	static const char *const v2[] = {"", NULL};

	return fix_v2 ? v2 : v1;
}

/* Our top group in a hierarchy and what `sub` adds; v2 has all hierarchies in one. */
static inline const char *fix_path(const char *hier, const char *sub, const char *file)
{
	static char path[512];

	(void)snprintf(path, sizeof path, CGROUP_MOUNTS "/%s/virtpod-%s%s%s%s", fix_v2 ? "" : hier,
		       fix_tag, sub, file ? "/" : "", file ? file : "");
	return path;
}

static inline bool fix_entry(const char *dir, char *ret, size_t size)
{
	_cleanup_dir_ DIR *d = opendir(dir);
	struct dirent *de;

	while (d && (de = readdir(d)))
		if (strstr(de->d_name, fix_tag)) {
			(void)snprintf(ret, size, "%.200s/%.200s", dir, de->d_name);
			return true;
		}
	return false;
}

/* A directory entry of a hierarchy that bears our tag, in `ret`; false: there is none. */
static inline bool fix_find_group(char *ret, size_t size)
{
	_cleanup_dir_ DIR *mounts = opendir(CGROUP_MOUNTS);
	struct dirent *m;

	if (fix_entry(CGROUP_MOUNTS, ret, size))
		return true;
	while (mounts && (m = readdir(mounts))) {
		char path[512];

		(void)snprintf(path, sizeof path, CGROUP_MOUNTS "/%s", m->d_name);
		if (m->d_name[0] != '.' && fix_entry(path, ret, size))
			return true;
	}
	return false;
}

/* The process leaves the pod's group of one hierarchy; false: the kernel says no. */
static inline bool fix_leave(const char *hier, pid_t pid)
{
	char path[128], number[16];

	(void)snprintf(path, sizeof path, CGROUP_MOUNTS "/%s/cgroup.procs", fix_v2 ? "" : hier);
	(void)snprintf(number, sizeof number, "%d", (int)pid);
	return file_write_at(AT_FDCWD, path, number) == 0;
}

/* Kill and remove every pod of the tag; an error is printed and returned. */
static inline int fix_sweep(struct cgroup_host *h)
{
	struct err err = {0};
	char **uids = NULL;
	size_t n = 0;
	int r = cgroup_list(h, &uids, &n, &err);

	for (size_t i = 0; !r && i < n; i++) {
		r = cgroup_pod_kill(h, uids[i], &err);
		if (!r)
			r = cgroup_pod_destroy(h, uids[i], &err);
	}
	cgroup_list_free(uids, n);
	if (!r)
		r = cgroup_host_remove(h, &err);
	if (r < 0)
		print_error("sweep: %s\n", err.msg);
	return r;
}

static inline int fix_setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);
	struct err err = {0};

	if (cgroup_host_open(fix_tag, &f->host, &err) < 0) {
		print_error("%s\n", err.msg);
		free(f);
		return -1;
	}
	*state = f;
	return 0;
}

static inline int fix_teardown(void **state)
{
	struct fixture *f = *state;
	char left[512];
	int r;

	for (unsigned i = 0; i < f->n_children; i++) {
		(void)kill(f->children[i], SIGKILL);
		(void)waitpid(f->children[i], NULL, 0);
	}
	r = fix_sweep(f->host);
	if (!r && fix_find_group(left, sizeof left)) {
		print_error("left behind: %s\n", left);
		r = -1;
	}
	cgroup_host_free(f->host);
	free(f);
	return r;
}

/* What is set unless a test says otherwise: the least that makes a pod. */
static inline struct cgroup_pod_spec fix_spec(const char *uid)
{
	struct cgroup_pod_spec s = {.uid = uid};

	CPU_ZERO(&s.emu);
	CPU_ZERO(&s.vcpu);
	CPU_ZERO(&s.mems);
	CPU_SET(0, &s.emu);
	return s;
}

static inline void fix_create(struct fixture *f, const struct cgroup_pod_spec *spec)
{
	struct err err = {0};
	int r = cgroup_pod_create(f->host, spec, &err);

	if (r < 0)
		fail_msg("create: %s", err.msg);
}

/*
 * A child that joins the pod (NULL: none), writes one byte and then runs fn; its result is the exit
 * status. Returns when the byte is there. Killed at teardown if it still lives.
 */
static inline pid_t fix_spawn(struct fixture *f, const char *uid, int (*fn)(void *), void *arg)
{
	struct err err = {0};
	char byte = 0;
	int p[2];
	pid_t pid;

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (uid && cgroup_pod_enter(f->host, uid, /* born= */ false, &err) < 0) {
			print_error("enter: %s\n", err.msg);
			_exit(EXIT_FAILED);
		}
		if (write(p[1], "x", 1) != 1)
			_exit(EXIT_FAILED);
		_exit(fn(arg));
	}
	assert_true(pid > 0);
	assert_true(f->n_children < CHILDREN_MAX);
	f->children[f->n_children++] = pid;
	(void)close(p[1]);
	assert_int_equal(read(p[0], &byte, 1), 1);
	(void)close(p[0]);
	return pid;
}

static inline int fix_idle(void *arg)
{
	(void)arg;
	while (pause() < 0)
		;
	return EXIT_FAILED;
}

/* Status of a child as waitpid gives it; the child is forgotten. */
static inline int fix_wait(struct fixture *f, pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (unsigned i = 0; i < f->n_children; i++)
		if (f->children[i] == pid)
			f->children[i] = f->children[--f->n_children];
	return status;
}

/* A control file of our groups as the kernel gives it; the last newline removed. */
static inline const char *fix_file(const char *hier, const char *sub, const char *file)
{
	static char text[8192];
	const char *path = fix_path(hier, sub, file);

	if (file_read_line_at(AT_FDCWD, path, text, sizeof text) < 0)
		fail_msg("%s: %s", path, strerror(errno));
	return text;
}

/* Somebody else writes a control file of our groups; 0 or a negative errno. */
static inline int fix_write(const char *hier, const char *sub, const char *file, const char *text)
{
	return file_write_at(AT_FDCWD, fix_path(hier, sub, file), text);
}

static inline bool fix_group_there(const char *hier, const char *sub)
{
	return access(fix_path(hier, sub, NULL), F_OK) == 0;
}

static inline void fix_make_group(const char *hier, const char *sub)
{
	assert_int_equal(mkdir_p_at(AT_FDCWD, fix_path(hier, sub, NULL), 0755), 0);
}

/* SIGKILL to all that a cgroup.procs file lists. */
static inline void fix_kill_listed(const char *path)
{
	_cleanup_file_ FILE *file = fopen(path, "re");
	int pid;

	while (file && fscanf(file, "%d", &pid) == 1)
		(void)kill(pid, SIGKILL);
}

static inline int fix_kill_entry(const char *path, const struct stat *st, int type, struct FTW *w)
{
	(void)st;
	(void)type;
	if (strstr(path, fix_tag) && str_eq(path + w->base, "cgroup.procs"))
		fix_kill_listed(path);
	return 0;
}

static inline int fix_remove_entry(const char *path, const struct stat *st, int type, struct FTW *w)
{
	(void)st;
	(void)w;
	if (strstr(path, fix_tag) && type == FTW_DP && rmdir(path) < 0)
		print_error("rmdir %s: %s\n", path, strerror(errno));
	return 0;
}

/*
 * Without the code under test, which may be what is broken: kill who is in our groups, reap until
 * all descendants are gone (we are their subreaper), remove the groups. True: there was something.
 */
static inline bool fix_scrub(void)
{
	char left[512];

	if (!fix_find_group(left, sizeof left))
		return false;
	print_error("left behind by the tests: %s\n", left);
	(void)nftw(CGROUP_MOUNTS, fix_kill_entry, 16, FTW_PHYS);
	while (waitpid(-1, NULL, 0) > 0)
		;
	(void)nftw(CGROUP_MOUNTS, fix_remove_entry, 16, FTW_PHYS | FTW_DEPTH);
	return true;
}

static inline int fix_after_child(int status)
{
	bool dirty = fix_scrub();

	if (rm_rf_at(AT_FDCWD, fix_dir) < 0)
		dirty = true;
	if (!WIFEXITED(status)) {
		print_error("[  FAILED  ] the tests ended by signal %d\n", WTERMSIG(status));
		return 1;
	}
	return dirty ? 1 : WEXITSTATUS(status);
}

/* main() of a test program: run(), which is one cmocka_run_group_tests, in a guarded child. */
static inline int fix_main(int (*run)(void))
{
	uint32_t random;
	int status;
	pid_t pid;

	fix_v2 = access(CGROUP_MOUNTS "/cgroup.controllers", F_OK) == 0;
	if (getrandom(&random, sizeof random, 0) != sizeof random)
		return 1;
	(void)snprintf(fix_tag, sizeof fix_tag, "%08x", random);
	/* tests/pod/sweep.sh reads tag and pid */
	(void)snprintf(fix_dir, sizeof fix_dir, "/tmp/virtpod-test-%s.%d", fix_tag, getpid());
	if (mkdir(fix_dir, 0700) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return 1;
	pid = fork();
	if (!pid) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)alarm(TEST_SECONDS);
		exit(run());
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return fix_after_child(status);
}
