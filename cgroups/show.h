// SPDX-License-Identifier: Apache-2.0
/* What a group's files say, as members of a JSON object. Internal to cgroups/. Keys: see cgroup.h. */
#pragma once

#include "cgroups/group.h"

#include <jansson.h>

json_t *show_object(json_t *o, const char *key); /* a new member {}, borrowed */

/* A file that is one number; what jansson can't hold is "no limit" in every such file: null. */
int show_u64(json_t *o, const char *key, const struct group *g, const char *file, struct err *err);

/* As show_u64; `none` is how the file says "no limit". */
int show_limit(json_t *o, const char *key, const struct group *g, const char *file,
	       const char *none, struct err *err);

/* The number behind `line` in a file of "key number" lines, divided. */
int show_key(json_t *o, const char *key, const struct group *g, const char *file, const char *line,
	     uint64_t divisor, struct err *err);

int show_text(json_t *o, const char *key, const struct group *g, const char *file, struct err *err);

/* Lines of a file as an array: of numbers, or of strings. */
int show_lines(json_t *o, const char *key, const struct group *g, const char *file, bool numbers,
	       struct err *err);

/* Members `key` of root.paths, as in /proc/PID/cgroup, and of root.tasks, host tids. */
int show_path_and_tasks(json_t *root, const char *key, const struct group *g, struct err *err);
