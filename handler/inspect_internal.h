// SPDX-License-Identifier: Apache-2.0
/* Parts of inspect_vmi, one per kind of thing that is read (internal to handler/inspect*.c). */
#pragma once

#include "handler/pod.h"

#include "lib/err.h"

#include <jansson.h>

struct inspect { /* everything in it is borrowed */
	struct handler *h;
	const struct pod *pod;
	const json_t *cgroup; /* of cgroup_pod_read; null while there are no groups */
};

/*
 * Host pids of the pod's processes, ascending: whoever is in one of its groups, and every descendant of
 * its recorded PID 1 wherever it is. *ret_pids is the caller's to free. -E2BIG: more than a pod can have.
 */
int inspect_pids(const struct inspect *in, pid_t **ret_pids, size_t *ret_n, struct err *err);

/*
 * Is this pid still the pod's, of which inspect_pids found `pids`? To be asked after it was read: its
 * number may have been given to somebody else since it was listed.
 */
bool inspect_is_ours(const struct inspect *in, pid_t pid, const pid_t *pids, size_t n);

/*
 * "processes", and "kernelThreads": the kernel's own ones in the pod's groups; both the caller's. Those
 * that end while they are read are left out.
 */
int inspect_processes(const struct inspect *in, json_t **ret, json_t **ret_kernel, struct err *err);

/*
 * One entry of "threads" from sandbox_read_process's one; the caller's. `process` is its process's
 * "name". NULL when the thread has ended meanwhile.
 */
json_t *inspect_thread(const struct inspect *in, pid_t pid, const char *process, const json_t *raw);

/* "links" of the pod whose processes these are; the caller's. */
int inspect_links(const struct inspect *in, const json_t *processes, json_t **ret, struct err *err);

/* "guest" and "lockedBytes" of "memory", put into out. */
void inspect_memory(const struct inspect *in, const json_t *processes, json_t *out);

/* "cpus"; the caller's. */
int inspect_cpus(const struct inspect *in, json_t **ret, struct err *err);

/* The process of this "name", borrowed; NULL: there is none. */
const json_t *inspect_find(const json_t *processes, const char *name);
