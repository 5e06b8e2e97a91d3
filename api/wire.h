// SPDX-License-Identifier: Apache-2.0
/*
 * The wire between handler and launcher: one JSON object a frame, at most WIRE_MAX bytes, over
 * SOCK_SEQPACKET, with descriptors where the message names them. Neither side trusts the other's
 * frames: each is bounded, parsed whole, then checked. docs/wire.md describes every message.
 *
 * Request (handler → launcher):  {"id": N, "request": NAME, …}
 * Reply (launcher → handler):    {"id": N, "ok": true, …} or {"id": N, "ok": false, "error": TEXT}
 * Event (launcher → handler):    {"event": NAME, …}
 *
 * Requests, in the order of a start:
 *   enter     "version": TEXT, "sandbox": {…}, "hostname": TEXT, "qemu": PATH, "fds": ["dev"]
 *                                                      build the pod's root, drop everything; "dev" only
 *                                                      with the mount layer
 *   start     "plan": {…}, "qemu": PATH, "fds": [names] start QEMU paused; the reply holds "qemuPid" and
 *             "vcpus": [tid…], "iothreads": [tid…], ids of the pod's pid namespace
 *   continue                                           let the guest run
 * then, in any order:
 *   status    reply: "status" (QMP's run state), "qemuPid", "vcpus", "iothreads", "plan"
 *   console   "fds": ["client"]                        attach a stream socket to the serial console
 *   shutdown  "graceSeconds": N                        ACPI until the time is over, then SIGTERM, SIGKILL
 *   kill                                               end QEMU now
 * Names of start's descriptors: "outcome", "consoleLog", "qemuLog", "disk:NAME" , "tap:NIC:QUEUE",
 * "vhost:NIC:QUEUE", "kernel", "initrd". "outcome" is needed, the logs are regular files open O_RDWR, a
 * disk's access mode is the plan's (CD-ROMs are read-only).
 * Events: "qmp" ("name": QMP event name, "data": {…}), forwarded for the few that the handler acts on
 * (SHUTDOWN, STOP, RESUME, BLOCK_IO_ERROR, GUEST_PANICKED, WATCHDOG, RESET), rate-limited.
 */
#pragma once

#include "lib/err.h"

#include <jansson.h>
#include <stddef.h>

#define WIRE_MAX (64 * 1024)

/* Longest grace period that "shutdown" takes; who wants more gets this. */
#define WIRE_GRACE_MAX_SECONDS (366u * 24 * 3600)

/* What the launcher lets its logs grow to (lib/logfile.h). */
#define WIRE_CONSOLE_LOG_MAX (4u << 20)
#define WIRE_QEMU_LOG_MAX    (256u << 10)

/* Descriptors of virt-launcher when it is executed. */
enum { WIRE_FD_CHANNEL = 3, WIRE_FD_LISTENER = 4 };

/* fds are borrowed. -EAGAIN when a non-blocking peer does not read, -EMSGSIZE when it is too long. */
int wire_send(int sock, const json_t *msg, const int *fds, size_t n_fds, struct err *err);

/*
 * One frame. 1 with *ret (the caller's) and the received fds (the caller's); 0 when the peer closed;
 * -EAGAIN when there is none; -EBADMSG for what is not one bounded JSON object.
 */
int wire_recv(int sock, json_t **ret, int *ret_fds, size_t max_fds, size_t *ret_n_fds,
	      struct err *err);
