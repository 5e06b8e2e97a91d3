// SPDX-License-Identifier: Apache-2.0
/*
 * Which processes are a pod's. The cgroups say it for all that stayed in them; the tree below PID 1 adds
 * what is in none, so that a process outside its groups is shown and not overlooked. Nobody's name or
 * word counts.
 */
#include "handler/inspect_internal.h"

#include "handler/proc.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/util.h"
#include "sandbox/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Above every pids limit that a plan can lead to; a pod without limits may have more. */
#define PIDS_MAX 2048

struct pid_set {
	pid_t *list; /* owned; in order of their finding */
	size_t n;
};

static int add(struct pid_set *set, pid_t pid)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->list[i] == pid)
			return 0;
	if (set->n == PIDS_MAX)
		return -E2BIG;
	set->list = xrealloc(set->list, set->n + 1, sizeof *set->list);
	set->list[set->n++] = pid;
	return 0;
}

/* A number of /proc/PID/status; 0 when the task has gone. */
static pid_t status_number(pid_t pid, const char *key)
{
	_cleanup_free_ char *status = NULL;
	char path[32], value[16];

	(void)snprintf(path, sizeof path, "/proc/%d/status", pid);
	if (file_read_at(AT_FDCWD, path, STATUS_MAX, &status, NULL) < 0 ||
	    status_field(status, key, value, sizeof value) < 0)
		return 0;
	return (pid_t)strtol(value, NULL, 10);
}

static int add_groups(struct pid_set *set, const json_t *cgroup)
{
	struct pid_set tids = {0};
	const char *group;
	json_t *list, *tid;
	size_t i;
	int r = 0;

	json_object_foreach (json_object_get(cgroup, "tasks"), group, list) {
		json_array_foreach (list, i, tid)
			r = r < 0 ? r : add(&tids, (pid_t)json_integer_value(tid));
	}
	for (i = 0; r == 0 && i < tids.n; i++) {
		pid_t pid = status_number(tids.list[i], "Tgid");

		r = pid > 0 ? add(set, pid) : 0;
	}
	free(tids.list);
	return r;
}

static int add_children(struct pid_set *set, pid_t pid, const char *tid)
{
	_cleanup_free_ char *text = NULL;
	char path[300], *save = NULL;
	int r = 0;

	(void)snprintf(path, sizeof path, "/proc/%d/task/%s/children", pid, tid);
	if (file_read_at(AT_FDCWD, path, 64 * 1024, &text, NULL) < 0)
		return 0; /* the thread has ended: its children are another one's now */
	for (char *w = strtok_r(text, " \n", &save); r == 0 && w; w = strtok_r(NULL, " \n", &save))
		r = add(set, (pid_t)strtol(w, NULL, 10));
	return r;
}

/* The set grows while it is walked, until every member's children are in it. */
static int add_descendants(struct pid_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		_cleanup_dir_ DIR *dir = NULL;
		struct dirent *de;
		char path[32];
		int r;

		(void)snprintf(path, sizeof path, "/proc/%d/task", set->list[i]);
		r = dir_open_at(AT_FDCWD, path, &dir);
		if (r == -ENOENT || r == -ESRCH) /* it has ended */
			continue;
		while (r == 0 && (de = readdir(dir)))
			if (de->d_name[0] != '.')
				r = add_children(set, set->list[i], de->d_name);
		if (r < 0)
			return r;
	}
	return 0;
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

int inspect_pids(const struct inspect *in, pid_t **ret_pids, size_t *ret_n, struct err *err)
{
	const struct store_pod *record = &in->pod->record;
	struct pid_set set = {0};
	int r = add_groups(&set, in->cgroup);

	if (r == 0 && proc_is((pid_t)record->pid, record->pid_start))
		r = add(&set, (pid_t)record->pid);
	if (r == 0)
		r = add_descendants(&set);
	if (r < 0)
		free(set.list);
	if (r == -E2BIG)
		return err_set(err, r,
			       "pod %s: more than %d processes or threads: too many to show",
			       record->uid, PIDS_MAX);
	if (r < 0)
		return err_errno(err, r, "pod %s: its processes", record->uid);
	if (set.n)
		qsort(set.list, set.n, sizeof *set.list, by_number);
	*ret_pids = set.list;
	*ret_n = set.n;
	return 0;
}

bool inspect_is_ours(const struct inspect *in, pid_t pid, const pid_t *pids, size_t n)
{
	_cleanup_free_ char *text = NULL;
	pid_t parent = status_number(pid, "PPid");
	char path[32];

	(void)snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
	if (file_read_at(AT_FDCWD, path, 64 * 1024, &text, NULL) == 0 &&
	    strstr(text, in->pod->record.uid))
		return true;
	for (size_t i = 0; i < n; i++)
		if (parent && pids[i] == parent)
			return true;
	return proc_is(pid, in->pod->record.pid_start) && pid == in->pod->record.pid;
}
