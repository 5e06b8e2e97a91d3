// SPDX-License-Identifier: Apache-2.0
/* /proc/PID/mountinfo (proc(5)): its lines taken apart, and a check of one's own against a list. */
#pragma once

#include "lib/err.h"

#include <stdbool.h>
#include <stddef.h>

#define MOUNTINFO_MAX (1024 * 1024) /* some hosts have thousands of mounts of 200 bytes */

struct mountinfo { /* pieces of the line that was parsed, with the kernel's \ooo escapes */
	char *root, *point, *options, *fs, *source, *super_options;
};

/* Take the next line off *text, which is changed. 1 = filled, 0 = end, -EBADMSG. */
int mountinfo_next(char **text, struct mountinfo *ret);

struct mountinfo_rule {
	const char *point;
	const char *options; /* each must be among the mount's own */
	bool below;	     /* mounts below it fall under this rule, too */
};

/*
 * Read /proc/self/mountinfo: every mount in it must fall under a rule and have its options, and the
 * root be there. -EPERM with the first that doesn't.
 */
int mountinfo_verify(const struct mountinfo_rule *rules, size_t n, struct err *err);
