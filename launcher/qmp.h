// SPDX-License-Identifier: Apache-2.0
/*
 * QEMU's monitor protocol (docs/interop/qmp-spec.rst of QEMU) as a client on one socket in the event
 * loop. Greeting and capabilities are handled here; then numbered commands, answered by callback in
 * whatever order, and events. QEMU is a guest's neighbour and not trusted: lines are bounded, anything
 * that is not the protocol closes the connection, each command has a time limit.
 */
#pragma once

#include "lib/err.h"

#include <jansson.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#define QMP_LINE_MAX (1024u * 1024u)

struct qmp;

/*
 * r: 0 with QEMU's answer in `result` (borrowed); -EREMOTEIO with QEMU's words in `error`; -ETIMEDOUT
 * (a late answer is dropped); -ECONNRESET when the connection ended first.
 */
typedef void (*qmp_reply_fn)(void *arg, int r, const json_t *result, const char *error);

struct qmp_handlers {
	void (*ready)(void *arg); /* capabilities negotiated: commands are taken now */
	void (*event)(void *arg, const char *name, const json_t *data); /* data may be NULL */
	/* The end, once: why->code is -ECONNRESET for a plain end of file. */
	void (*closed)(void *arg, const struct err *why);
};

/* Eats fd, also on failure. Callbacks run from the loop; none of them may call qmp_free. */
int qmp_new(sd_event *event, int fd_consume, uint64_t greeting_timeout_us,
	    const struct qmp_handlers *handlers, void *arg, struct qmp **ret, struct err *err);

/*
 * Send a command; `arguments` is consumed and may be NULL. The callback comes exactly once, never
 * from within this call; -ENOTCONN before ready or after closed, -ENOBUFS when QEMU does not read:
 * then it does not come.
 */
int qmp_call(struct qmp *q, const char *command, json_t *arguments, uint64_t timeout_us,
	     qmp_reply_fn fn, void *arg);

/* After QEMU's death: handle what it had still written, then close. */
void qmp_finish(struct qmp *q);

void qmp_free(struct qmp *q); /* NULL is fine; calls nothing back */
