// SPDX-License-Identifier: Apache-2.0
/*
 * The handler's side of one launcher's life: its exit (by pidfd, child or not), the
 * channel to it, and what happens when any of them ends. The launcher is hostile:
 * its silence ends in SIGKILL to the pod's PID 1.
 */
#pragma once

#include "handler/pod.h"

/* Watch pod->pidfd; when it ends the walk goes on (or the start fails, or the end begins). */
int launcher_watch_exit(struct pod *pod, struct err *err);

/*
 * Watch QEMU itself (pod->qemu_pid, checked): a guest that has ended is seen as ended even when its
 * launcher keeps silent.
 */
int launcher_watch_qemu(struct pod *pod, struct err *err);

/* Use this socket as the pod's channel; consumed. */
int launcher_set_channel(struct pod *pod, int fd_consume, struct err *err);

/*
 * A channel to the launcher that runs, by its listening socket. -EAGAIN: its queue of connections is full,
 * and it must not keep us waiting.
 */
int launcher_connect(struct pod *pod, struct err *err);

/*
 * What the launcher wrote of its guest's end into pod->outcome. When it wrote nothing, what is there stays;
 * of a pod that ran that is at the least that its launcher was killed.
 */
void launcher_read_outcome(struct pod *pod);

/* SIGKILL to PID 1 of the pod; its exit is reported as ever. */
void launcher_kill(struct pod *pod);

/* The same for a reason, which is logged, and is the guest's end if the launcher tells of no other. */
void launcher_kill_for(struct pod *pod, enum outcome_kind kind, const char *why);

/* One request of a step: its reply ends the step with `then`'s answer (0, negative). */
int launcher_step_request(struct pod *pod, const char *name, json_t *fields_consume, const int *fds,
			  size_t n_fds, unsigned timeout_seconds,
			  int (*then)(struct pod *pod, const json_t *reply, struct err *err),
			  struct err *err);
