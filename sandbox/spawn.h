// SPDX-License-Identifier: Apache-2.0
/* Handler side of the boundary: the first process of a pod, put into its namespaces and executed. */
#pragma once

#include "lib/err.h"
#include "sandbox/layers.h"

#include <sys/types.h>

/* The pod's only id inside its user namespace: KubeVirt's qemu user (its pods' runAsUser). */
#define SANDBOX_INNER_ID 107

#define SANDBOX_SPAWN_MAX_FDS 16

struct sandbox_spawn { /* everything in it is borrowed */
	struct sandbox_layers layers;
	uid_t uid; /* host ids of the pod, never 0; with layers.user off its ids inside, too */
	gid_t gid;
	int netns_fd; /* joined before the clone; -1 with layers.net off */

	/* Called in a short-lived child before the clone (v1: enter the pod's groups). May be NULL. */
	int (*join)(void *arg, struct err *err);
	void *join_arg;

	int cgroup_fd; /* v2: group that the process is born in; -1: where join() went */

	int exec_fd; /* the launcher's executable; its environment is LANG=C.UTF-8 alone */
	char *const *argv;

	const int *fds; /* become 3, 4, …; besides 0 to 2 nothing else is open after exec */
	unsigned n_fds;
	int stderr_fd; /* becomes 1 and 2; 0 is /dev/null */
};

/*
 * Start the pod's first process, a child of the caller. It comes with no groups, a session of its
 * own, default signals and umask, no death signal, every CPU of its cpuset, and the two capabilities that sandbox_enter needs.
 * Returns when it has executed. On failure, in whichever process, the reason is in *err and no
 * process is left. *ret_pidfd is the caller's. The caller must have one thread and not ignore SIGCHLD.
 */
int sandbox_spawn(const struct sandbox_spawn *spawn, pid_t *ret_pid, int *ret_pidfd,
		  struct err *err);
