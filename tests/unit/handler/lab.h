// SPDX-License-Identifier: Apache-2.0
/*
 * A handler without its API for the tests of pods: a temporary root with a store, an event loop, real
 * cgroups under the root's own tag, no VM. The tests run in a child of the test program in a network
 * namespace of its own; whatever ends it (a failed assertion, a sanitizer, a time limit), the parent
 * removes mounts, groups and files, and calls leftovers a failure.
 */
#pragma once

#include "tests/unit/unit.h"

#include "handler/handler.h"
#include "handler/hostcpus.h"
#include "handler/images.h"
#include "handler/loop.h"
#include "handler/pod.h"
#include "handler/server_internal.h"
#include "handler/vms.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define UID_A	    "0a0a0a0a-1111-4222-8333-000000000001"
#define UID_B	    "0b0b0b0b-1111-4222-8333-000000000002"
#define LAB_SECONDS 300 /* only a test program that hangs takes as long */

struct lab {
	struct handler h;
	char root[96];
	struct err err;
};

static char lab_dir[64]; /* holds the roots */

/* topology: hwloc's description of a machine; NULL: this one. */
static inline struct lab *lab_open(const char *topology)
{
	struct lab *l = xcalloc(1, sizeof *l);

	(void)snprintf(l->root, sizeof l->root, "%s/XXXXXX", lab_dir);
	assert_non_null(mkdtemp(l->root));
	l->h.launcher_fd = l->h.lock_fd = -1;
	l->h.refused = json_object();
	l->h.server =
		xcalloc(1, sizeof *l->h.server); /* serves nobody; the round over VMs wants it */
	l->h.cpus_file = xasprintf("%s/cpus", l->root);
	assert_int_equal(paths_open(l->root, true, &l->h.paths, &l->err), 0);
	assert_int_equal(sd_event_new(&l->h.event), 0);
	assert_int_equal(store_open(&l->h.paths, &l->h.store, &l->err), 0);
	if (cgroup_host_open(l->h.paths.tag, &l->h.cgroups, &l->err) < 0)
		fail_msg("%s", l->err.msg);
	assert_int_equal(topology ? cpu_topology_synthetic(topology, &l->h.topology, &l->err)
				  : cpu_topology_load(&l->h.topology, &l->err),
			 0);
	assert_int_equal(loop_init(&l->h, &l->err), 0);
	return l;
}

static inline int lab_remove_groups(struct cgroup_host *groups)
{
	struct err err = {0};
	char **uids = NULL;
	size_t n = 0;
	int r = cgroup_list(groups, &uids, &n, &err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		r = cgroup_pod_kill(groups, uids[i], &err);
		if (r == 0)
			r = cgroup_pod_destroy(groups, uids[i], &err);
	}
	cgroup_list_free(uids, n);
	if (r < 0)
		print_error("%s\n", err.msg);
	return r;
}

static inline void lab_close(struct lab *l)
{
	while (l->h.pods)
		pod_free(l->h.pods);
	images_drop(&l->h);
	vms_close(&l->h);
	free(l->h.server);
	loop_close(&l->h);
	hostcpus_unwatch(&l->h);
	json_decref(l->h.refused);
	free((char *)(uintptr_t)l->h.cpus_file);
	assert_int_equal(lab_remove_groups(l->h.cgroups), 0);
	cgroup_host_free(l->h.cgroups);
	store_close(l->h.store);
	sd_event_unref(l->h.event);
	paths_close(&l->h.paths);
	(void)rm_rf_at(AT_FDCWD, l->root); /* what resists is found by the parent */
	free(l);
}

static inline int lab_setup(void **state)
{
	*state = lab_open("pack:1 core:8 pu:1");
	return 0;
}

static inline int lab_setup_here(void **state)
{
	*state = lab_open(NULL);
	return 0;
}

static inline int lab_teardown(void **state)
{
	lab_close(*state);
	return 0;
}

/* A pod of that uid, named like it, with an empty plan; it belongs to the handler. */
static inline struct pod *lab_pod(struct lab *l, const char *uid, const char *name)
{
	_cleanup_json_ json_t *vmi = json_pack("{s:{s:s, s:s, s:s}}", "metadata", "uid", uid,
					       "namespace", "default", "name", name);

	return pod_new(&l->h, vmi, NULL);
}

/* Run the loop until nothing is pending. */
static inline void lab_settle(struct lab *l)
{
	while (sd_event_run(l->h.event, 0) > 0)
		;
}

/* Run the loop until *flag, which only a test that fails waits for in vain. */
static inline void lab_wait(struct lab *l, const bool *flag)
{
	for (int i = 0; i < 20 && !*flag; i++)
		assert_true(sd_event_run(l->h.event, 1000000) >= 0);
	assert_true(*flag);
}

/* A process with a second thread, as it reports itself. */
struct lab_process {
	pid_t pid, thread;
	bool in_pod;
};

struct lab_report {
	struct lab_process process;
	int fd;
};

static inline void *lab_thread(void *arg)
{
	struct lab_report *r = arg;

	r->process.thread = (pid_t)syscall(SYS_gettid);
	if (write(r->fd, &r->process, sizeof r->process) != sizeof r->process)
		_exit(1);
	(void)close_range(3, ~0u, 0);
	while (pause() < 0)
		;
	return NULL;
}

/* In a fork's child, for good: join the pod (uid NULL: none), write the report, close all, be idle. */
static inline void lab_be_process(struct lab *l, const char *uid, int fd)
{
	struct lab_report r = {{.pid = getpid(), .in_pod = uid}, fd};
	pthread_t thread;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if ((uid && cgroup_pod_enter(l->h.cgroups, uid, /* born= */ false, &l->err) < 0) ||
	    pthread_create(&thread, NULL, lab_thread, &r) != 0)
		_exit(1);
	while (pause() < 0)
		;
}

static inline int lab_count_fds(void)
{
	_cleanup_dir_ DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	return n;
}

static inline bool lab_unmount(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	bool dirty = false;

	while (mounts && (m = getmntent(mounts)))
		if (str_after(m->mnt_dir, lab_dir)) {
			print_error("left mounted: %s\n", m->mnt_dir);
			(void)umount2(m->mnt_dir, MNT_DETACH);
			dirty = true;
		}
	if (mounts)
		(void)endmntent(mounts);
	return dirty;
}

/* Groups of one root that the tests left; its name alone says the tag. */
static inline bool lab_scrub_groups(const char *root)
{
	struct cgroup_host *groups = NULL;
	struct paths paths;
	char **uids = NULL;
	size_t n = 0;

	if (paths_open(root, false, &paths, NULL) < 0)
		return false;
	if (cgroup_host_open(paths.tag, &groups, NULL) == 0 &&
	    cgroup_list(groups, &uids, &n, NULL) == 0 && n) {
		print_error("left in cgroups: pod %s\n", uids[0]);
		(void)lab_remove_groups(groups);
	}
	cgroup_list_free(uids, n);
	cgroup_host_free(groups);
	paths_close(&paths);
	return n > 0;
}

static inline bool lab_scrub(void)
{
	bool dirty = lab_unmount();
	_cleanup_dir_ DIR *dir = opendir(lab_dir);
	struct dirent *de;

	while (dir && (de = readdir(dir))) {
		_cleanup_free_ char *root = xasprintf("%s/%s", lab_dir, de->d_name);

		if (de->d_name[0] != '.')
			dirty |= lab_scrub_groups(root);
	}
	return rm_rf_at(AT_FDCWD, lab_dir) < 0 || dirty;
}

/* main() of a test program: run(), which is one cmocka_run_group_tests, in a guarded child. */
static inline int lab_main(int (*run)(void))
{
	int status;
	pid_t pid;

	/* tests/pod/sweep.sh reads the pid */
	(void)snprintf(lab_dir, sizeof lab_dir, "/tmp/virtpod-roots.%d.XXXXXX", getpid());
	if (!mkdtemp(lab_dir))
		return 1;
	pid = fork();
	if (!pid) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)alarm(LAB_SECONDS);
		exit(unshare(CLONE_NEWNET) < 0 ? 1 : run());
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	if (!WIFEXITED(status))
		print_error("the tests ended by signal %d\n", WTERMSIG(status));
	return lab_scrub() || !WIFEXITED(status) ? 1 : WEXITSTATUS(status);
}
