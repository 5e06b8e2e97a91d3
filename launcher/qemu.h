// SPDX-License-Identifier: Apache-2.0
/* QEMU as a child: forked with a pidfd, hardened, executed; its words go to a pipe. */
#pragma once

#include "lib/err.h"
#include "sandbox/layers.h"

#include <stddef.h>
#include <sys/types.h>

struct qemu_child {
	pid_t pid; /* 0: none */
	int pidfd;
	int output; /* read end of its stdout and stderr, non-blocking */
};

/*
 * Execute argv[0] (a path, no search) with `keep` and 0-2 as its only descriptors, an empty
 * environment and QEMU's seccomp filter; it is killed when the caller dies. What goes wrong before or
 * in execve comes back here, and no child is left then. The caller peeks and reaps: see reap.h.
 */
int qemu_start(char *const *argv, const int *keep, size_t n_keep, enum sandbox_seccomp seccomp,
	       struct qemu_child *ret, struct err *err);

void qemu_done(struct qemu_child *q); /* closes; neither kills nor reaps */
