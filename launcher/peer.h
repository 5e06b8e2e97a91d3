// SPDX-License-Identifier: Apache-2.0
/*
 * The launcher's end of the wire to the handler. There is at most one handler: the one on the channel
 * that the launcher was started with, then whoever connects to the listener last. Nothing here blocks:
 * a handler that does not read loses its connection, not the guest its launcher.
 */
#pragma once

#include "lib/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct peer;

/* Whom a reply goes to: void once another handler has connected. */
struct reply_to {
	uint64_t connection;
	json_int_t id;
};

struct peer_ops {
	/* A well-formed request; msg is borrowed, the fds are the callee's to close. */
	void (*request)(void *arg, const char *name, const struct reply_to *to, const json_t *msg,
			const int *fds, size_t n_fds);
	void (*lost)(void *arg); /* the handler is gone; another may come */
};

/* Eats both fds, also on failure. */
int peer_new(sd_event *event, int channel_consume, int listener_consume, const struct peer_ops *ops,
	     void *arg, struct peer **ret, struct err *err);

/* `fields` (consumed, may be NULL) and "ok": true. */
void peer_reply(struct peer *p, const struct reply_to *to, json_t *fields);
void peer_refuse(struct peer *p, const struct reply_to *to, const struct err *why);

/* -ENOTCONN, -EAGAIN (it does not read), -EMSGSIZE: the event was not sent. */
int peer_event(struct peer *p, const json_t *event);

void peer_free(struct peer *p); /* NULL is fine */
