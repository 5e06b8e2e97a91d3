// SPDX-License-Identifier: Apache-2.0
/*
 * The pod's private /dev, made by the handler: device nodes can't be made inside a user namespace,
 * and a bound root:kvm 0660 node could not be opened there.
 */
#pragma once

#include "lib/err.h"

#include <stddef.h>
#include <sys/types.h>

struct sandbox_node {
	const char *name; /* "kvm": a plain name below /dev */
	unsigned major, minor;
};

/*
 * A detached read-only tmpfs with null, zero, full, random, urandom (root's, 0666) and the listed
 * nodes (uid:gid, 0600). It may be moved into a mount namespace that a child user namespace owns,
 * and its nodes open there. *ret_mount_fd is the caller's. -EINVAL on a name that is no file name.
 */
int sandbox_dev_create(uid_t uid, gid_t gid, const struct sandbox_node *nodes, size_t n,
		       int *ret_mount_fd, struct err *err);
