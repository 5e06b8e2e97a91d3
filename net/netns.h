// SPDX-License-Identifier: Apache-2.0
/*
 * Network namespaces that live on a file: made by this process, so owned by its user namespace
 * (for the handler the initial one), pinned by a bind mount, gone when the mount and all users are.
 */
#pragma once

#include "lib/err.h"

/*
 * Make a network namespace with lo up and pin it on a new file `name` (no slash) in `dirfd`.
 * *ret_fd is the namespace, the caller's to close. -EEXIST when the name is taken.
 */
int netns_create(int dirfd, const char *name, int *ret_fd, struct err *err);

/* -ENOENT: no such name. -ESTALE: the file is there, but pins nothing (a crash, a reboot). */
int netns_open(int dirfd, const char *name, int *ret_fd, struct err *err);

/* Unpin and unlink; half-made and absent ones are fine. Users and open fds keep the namespace. */
int netns_destroy(int dirfd, const char *name, struct err *err);

/*
 * Run fn(arg) with the calling thread in the namespace and return its result. The thread goes
 * there by setns and comes back before this returns; if it can't come back the process aborts,
 * because whatever it did next would hit the wrong links. netns_fd -1: where it is.
 */
int netns_call(int netns_fd, int (*fn)(void *arg), void *arg, struct err *err);
