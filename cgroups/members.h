// SPDX-License-Identifier: Apache-2.0
/* Which groups a task is in, by /proc/TID/cgroup (cgroups(7)). Internal to cgroups/. */
#pragma once

#include "cgroups/group.h"

/* The file of a host tid, 0 for the calling thread; the caller's to free. -ESRCH: no such thread. */
int members_read(pid_t tid, char **ret, struct err *err);

/* Does that text say that the task is in exactly this group; or in it or a group below it? */
bool members_at(const char *text, const struct group *g);
bool members_below(const char *text, const struct group *g);
