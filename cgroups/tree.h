// SPDX-License-Identifier: Apache-2.0
/*
 * The hierarchies of this host and the names of our groups in them. Internal to cgroups/.
 *
 * A group is named by (hierarchy, node, uid), never by a path: the one path that belongs to it is
 * composed here, from a checked tag and a checked uid, so no caller can name a group that isn't
 * ours. Opening happens in group.c alone, beneath the hierarchy's directory.
 */
#pragma once

#include "lib/err.h"

#include <linux/limits.h>
#include <stdbool.h>
#include <stddef.h>

enum tree_hier { /* the order in which a process joins: unified first, so that kill reaches it */
		 HIER_UNIFIED,
		 HIER_CPUSET,
		 HIER_MEMORY,
		 HIER_PIDS,
		 HIER_CPU,
		 HIER_DEVICES,
		 HIER_MAX
};

enum tree_node {
	NODE_ROOT, /* the hierarchy itself: read only, never ours */
	NODE_TOP,  /* virtpod-TAG */
	NODE_POD,  /* virtpod-TAG/pod-UID */
	NODE_EMU,  /* virtpod-TAG/pod-UID/emu: threaded child */
	NODE_VCPU, /* virtpod-TAG/pod-UID/vcpu: threaded child */
	/*
	 * What can have CPUs to itself stands beside NODE_TOP. v1: virtpod-TAG.UID.vcpu, the vCPU threads'
	 * cpuset alone. v2: virtpod-TAG.UID, the whole pod with its threaded children.
	 */
	NODE_SIDE,
	NODE_SIDE_EMU,	/* v2: virtpod-TAG.UID/emu */
	NODE_SIDE_VCPU, /* v2: virtpod-TAG.UID/vcpu */
};

#define TREE_TAG_LEN  8
#define TREE_UID_LEN  36
#define TREE_PATH_MAX 128

struct tree {
	bool v2; /* the controllers are in the unified tree, and it alone is used */
	char tag[TREE_TAG_LEN + 1];
	int fd[HIER_MAX];     /* owned; -1: not mounted */
	char *root[HIER_MAX]; /* owned; what /proc/PID/cgroup puts before our paths; "" usually */
};

/*
 * Find and open the hierarchies. v2 when the cgroup2 mount has the controllers cpuset, cpu, memory and
 * pids; else every v1 controller of the list must be there, on a mount of its own, and unified need
 * not. See cgroup_host_open for the errors.
 */
int tree_open(const char *tag, struct tree **ret, struct err *err);
void tree_free(struct tree *t);

const char *tree_hier_name(enum tree_hier hier); /* "cpuset", "unified"; also the controller's */
bool tree_has(const struct tree *t, enum tree_hier hier);

bool tree_uid_valid(const char *uid); /* a lower-case UUID, nothing else */

/* Path below the hierarchy's directory; uid is looked at by the nodes of pods only. */
int tree_path(const struct tree *t, enum tree_node node, const char *uid,
	      char ret[static TREE_PATH_MAX], struct err *err);

/*
 * Is `name`, found in a hierarchy's directory (node NODE_ROOT) or in our top group (NODE_TOP), a
 * group of a pod of ours? Then its uid is in ret.
 */
bool tree_uid_of(const struct tree *t, enum tree_node in, const char *name,
		 char ret[static TREE_UID_LEN + 1]);
