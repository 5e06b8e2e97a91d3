// SPDX-License-Identifier: Apache-2.0
/* Where other roots' pods may run: their cpusets, read, never written. */
#include "cgroups/foreign.h"

#include "lib/cpus.h"
#include "lib/file.h"
#include "lib/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "virtpod-" and a tag that is not ours; side groups have a dot behind it. */
static bool is_foreign_top(const struct tree *t, const char *name)
{
	const char *tag = str_after(name, "virtpod-");

	return tag && strlen(tag) == TREE_TAG_LEN &&
	       strspn(tag, "0123456789abcdef") == TREE_TAG_LEN && strcmp(tag, t->tag) != 0;
}

/* vCPU threads with CPUs of their own are in another group */
#define V2_CPUS	 "emu/cpuset.cpus.effective"
#define V2_TASKS "emu/cgroup.threads"

/* 1: a task is in this pod's group and may run on some of `cpus`. A group that vanishes has none. */
static int look_at_pod(int top, const char *pod, bool v2, const cpu_set_t *cpus,
		       struct foreign_task *ret)
{
	_cleanup_free_ char *cpus_path = xasprintf("%s/%s", pod, v2 ? V2_CPUS : "cpuset.cpus");
	_cleanup_free_ char *tasks_path = xasprintf("%s/%s", pod, v2 ? V2_TASKS : "tasks");
	_cleanup_free_ char *tasks = NULL;
	char text[CPUS_TEXT_MAX];
	cpu_set_t theirs;

	if (file_read_line_at(top, cpus_path, text, sizeof text) < 0 ||
	    cpus_parse(text, &theirs) < 0 ||
	    file_read_at(top, tasks_path, 1 << 20, &tasks, NULL) < 0)
		return 0;
	CPU_AND(&theirs, &theirs, cpus);
	if (!CPU_COUNT(&theirs) || !*tasks)
		return 0;
	*ret = (struct foreign_task){.pid = (pid_t)strtol(tasks, NULL, 10), .cpus = theirs};
	return 1;
}

static int look_at_top(int hierarchy, const char *name, bool v2, const cpu_set_t *cpus,
		       struct foreign_task *ret)
{
	_cleanup_dir_ DIR *dir = NULL;
	struct dirent *de;
	int r = dir_open_at(hierarchy, name, &dir);

	if (r == -ENOENT)
		return 0; /* its last pod has gone meanwhile */
	while (r == 0 && (de = readdir(dir)))
		if (str_after(de->d_name, "pod-"))
			r = look_at_pod(dirfd(dir), de->d_name, v2, cpus, ret);
	return r;
}

int foreign_find(const struct tree *t, const cpu_set_t *cpus, struct foreign_task *ret,
		 struct err *err)
{
	_cleanup_dir_ DIR *dir = NULL;
	struct dirent *de;
	int r = dir_open_at(t->fd[t->v2 ? HIER_UNIFIED : HIER_CPUSET], ".", &dir);

	while (r == 0 && (de = readdir(dir)))
		if (is_foreign_top(t, de->d_name))
			r = look_at_top(dirfd(dir), de->d_name, t->v2, cpus, ret);
	return r < 0 ? err_errno(err, r, "cgroup: cpuset") : r;
}
