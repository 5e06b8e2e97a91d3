// SPDX-License-Identifier: Apache-2.0
/*
 * Objects and what becomes of them: a list, then a watch from there on, and the same again when the
 * stream is cut (the handler was restarted, or its memory of events was too short), so that who
 * listens sees the truth again and never misses the last state.
 */
#pragma once

#include "cmd/client.h"

#include "api/kind.h"

#include <systemd/sd-event.h>

enum follow_what {
	FOLLOW_LISTED,	/* there when the list was made (first, or again) */
	FOLLOW_SYNCED,	/* the list is complete: what was not listed is not there; no object */
	FOLLOW_CHANGED, /* came or changed */
	FOLLOW_DELETED,
	FOLLOW_FAILED, /* no more will come; no object, err says why */
};

/* object is borrowed. Must not free the follow. */
typedef void (*follow_fn)(void *arg, enum follow_what what, json_t *object, const struct err *err);

struct follow;

/* name, ns NULL: all. The list's objects are told before this returns. */
int follow_open(struct client *c, sd_event *event, const struct kind *k, const char *ns,
		const char *name, follow_fn fn, void *arg, struct follow **ret, struct err *err);
void follow_free(struct follow *f); /* NULL is fine */

static inline void follow_freep(struct follow **f)
{
	follow_free(*f);
}
#define _cleanup_follow_ __attribute__((cleanup(follow_freep)))
