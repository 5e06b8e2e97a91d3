// SPDX-License-Identifier: Apache-2.0
/* A process by number, made safe by its start time; its children and its threads' inner ids. */
#pragma once

#include "lib/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Start time in clock ticks since boot (/proc/PID/stat field 22); 0: no such process. */
uint64_t proc_start(pid_t pid);

/* Is `pid` the process that began at `start`? A reused number is not. Zombies are. */
bool proc_is(pid_t pid, uint64_t start);

/* A pidfd of the process that began at `start`; -ESRCH when that one is gone. */
int proc_pidfd(pid_t pid, uint64_t start, int *ret);

/* Has the process of this pidfd ended, reaped or not? */
bool proc_has_ended(int pidfd);

/*
 * Is process 2 kthreadd, whose children all kernel threads are? Inside a pid namespace of somebody's it
 * is not.
 */
bool proc_sees_kernel(void);

/* Is it a thread of the kernel's own: a child of kthreadd, which no other task can be? */
bool proc_is_kernel(pid_t pid);

/*
 * The host's number of thread `inner` (its number in the innermost pid namespace) of process `pid`
 * (host's number), by NSpid. -ESRCH when it has no such thread.
 */
int proc_thread_by_inner(pid_t pid, pid_t inner, pid_t *ret);

/*
 * The host's number of a child of `pid1`'s main thread whose inner number is `inner`; -ESRCH when there
 * is none. A child's child is not looked at: virt-launcher has one thread and forks QEMU itself.
 */
int proc_child_by_inner(pid_t pid1, pid_t inner, pid_t *ret);
