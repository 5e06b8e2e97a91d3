// SPDX-License-Identifier: Apache-2.0
/*
 * Files and directories of one group. Internal to cgroups/. This is the only place that opens,
 * makes or removes anything in a cgroup file system: always by openat2 beneath the hierarchy's
 * directory, following no link and crossing no mount, and for NODE_ROOT never to write (but v2's
 * cgroup.subtree_control, which gives our groups their controllers).
 * `file` is a plain name. Errors name the group and the file.
 */
#pragma once

#include "cgroups/tree.h"

#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

struct group { /* borrows everything */
	const struct tree *tree;
	enum tree_hier hier;
	enum tree_node node;
	const char *uid; /* NULL for NODE_ROOT and NODE_TOP */
};

int group_make(const struct group *g, struct err *err); /* -EEXIST when it is there */
int group_exists(const struct group *g, bool *ret, struct err *err);

/* Remove the group and what groups are below it, deepest first; absent is fine; -EBUSY: has tasks. */
int group_remove(const struct group *g, struct err *err);

int group_open(const struct group *g, const char *file, int flags, int *ret, struct err *err);
int group_open_dir(const struct group *g, int *ret, struct err *err);

/* Whole file, at most 4 MiB; *ret is the caller's. One final newline is removed. */
int group_read(const struct group *g, const char *file, char **ret, struct err *err);
int group_read_u64(const struct group *g, const char *file, uint64_t *ret, struct err *err);

/* The number behind `key` in a file of "key number" lines; -ENOENT without such a line. */
int group_read_key(const struct group *g, const char *file, const char *key, uint64_t *ret,
		   struct err *err);

int group_write(const struct group *g, const char *file, const char *text, struct err *err);

/* Write, read back; -EIO when the kernel then holds anything but `want`. */
int group_set(const struct group *g, const char *file, const char *text, const char *want,
	      struct err *err);

/* The same of a number; the kernel may hold a slightly different one, which then is in `want`. */
int group_set_u64(const struct group *g, const char *file, uint64_t value, uint64_t want,
		  struct err *err);

/* The same of a list of CPUs, or of NUMA nodes; and such a list as the kernel holds it. */
int group_set_set(const struct group *g, const char *file, const cpu_set_t *set, struct err *err);
int group_read_set(const struct group *g, const char *file, cpu_set_t *ret, struct err *err);

/* One task in the group itself, or 0. A process in unified's group of a pod, elsewhere a thread. */
int group_any_task(const struct group *g, pid_t *ret, struct err *err);

/* Names of the directories inside a group, or of the hierarchy; NULL-terminated, group_names_free. */
int group_names(const struct group *g, char ***ret, struct err *err);
void group_names_free(char **names);
void group_names_freep(char ***names); /* for _cleanup_ */
