// SPDX-License-Identifier: Apache-2.0
/*
 * The handler's end of the wire to one launcher: numbered requests with one reply each, and events.
 * The launcher is hostile: frames are bounded and parsed whole, a reply nobody waits for, a second one or
 * too many events end the channel. Nothing here blocks.
 */
#pragma once

#include "lib/err.h"

#include <jansson.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct channel;

struct channel_ops {
	/* An event object, borrowed. */
	void (*event)(void *arg, const json_t *event);
	/* The channel is of no more use (closed, or the peer broke the rules); free it from here or later. */
	void (*closed)(void *arg, const struct err *err);
};

/* fd: SOCK_SEQPACKET, consumed also on failure. */
int channel_new(sd_event *event, int fd_consume, const struct channel_ops *ops, void *arg,
		struct channel **ret, struct err *err);
/* Who waits is answered -ECANCELED, and must not act on the owner for it. NULL is fine. */
void channel_free(struct channel *c);

/* r: 0 and the reply (borrowed), or a negative errno: the launcher's refusal, a timeout, the end. */
typedef void (*channel_reply)(void *arg, int r, const json_t *reply, const struct err *err);

/*
 * Send {"request": name, …fields}; fields is consumed (NULL: none), fds are borrowed. Exactly one of a
 * negative return and a later call of `reply` happens.
 */
int channel_request(struct channel *c, const char *name, json_t *fields_consume, const int *fds,
		    size_t n_fds, unsigned timeout_seconds, channel_reply reply, void *arg,
		    struct err *err);
