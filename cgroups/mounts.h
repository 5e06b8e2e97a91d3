// SPDX-License-Identifier: Apache-2.0
/* Where the cgroup hierarchies are mounted. Pure: parses the text of /proc/PID/mountinfo. */
#pragma once

#include <linux/limits.h>
#include <stdbool.h>
#include <stddef.h>

struct mount_entry {
	char path[PATH_MAX]; /* mount point, unescaped */
	char root[PATH_MAX]; /* which directory of the file system is mounted there, unescaped */
	unsigned major, minor;
};

/*
 * Find the v1 hierarchy of `controller`, or the cgroup2 mount when it is NULL. A mount of the whole
 * hierarchy wins over one of a part, else the first. -ENOENT: none; -EINVAL: not mountinfo's form
 * (proc(5)).
 */
int mounts_find(const char *mountinfo, const char *controller, struct mount_entry *ret);

/* Is `word` one of the comma-separated words of `list` (len bytes)? */
bool mounts_word_in(const char *list, size_t len, const char *word);
