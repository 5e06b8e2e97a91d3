// SPDX-License-Identifier: Apache-2.0
/*
 * Forking and signalling a child by pidfd. The pid of a child that nobody has waited for can't be given
 * to another process, so a pidfd opened right after the fork is certainly the child's.
 */
#pragma once

#include <sys/types.h>

/* 0 in the child; the child's pid in the parent, with *ret_pidfd (close-on-exec, the caller's). */
pid_t child_fork(int *ret_pidfd);

int child_signal(int pidfd, int sig); /* -ESRCH once it has been reaped */

/* Wait for it and forget its status; for children that were given up. */
void child_reap(int pidfd);
