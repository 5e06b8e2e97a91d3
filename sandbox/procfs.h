// SPDX-License-Identifier: Apache-2.0
/* Pieces of /proc/PID as JSON values (internal to sandbox/; see read.h). New values are the caller's. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#define PROCFS_MAX_ENTRIES 65536 /* of one folder: a pod's pids and descriptors limits are below */

/* Any bytes as a JSON string: what is no UTF-8 or a control character becomes '?'. */
json_t *procfs_text(const char *text);

/* A field of a status file as text (null when absent), as its numbers, as one number (0). */
json_t *procfs_field(const char *status, const char *key);
json_t *procfs_numbers(const char *status, const char *key);
uint64_t procfs_number(const char *status, const char *key);

/* The lines of uid_map as [{"inside", "outside", "count"}]. */
json_t *procfs_map(const char *text);

/* Put "policy", "priority" and "nice" of a thread's stat file, which is changed, into out. -EBADMSG. */
int procfs_scheduling(char *stat, json_t *out);

/* A limits file, which is changed, as [{"name", "soft", "hard"}]. -EBADMSG. */
int procfs_limits(char *text, json_t **ret);

/* Call fn for each entry of a folder whose name is a number; stops at the first failure. */
int procfs_each(int at, const char *path, int (*fn)(int dir, const char *name, void *arg),
		void *arg);
