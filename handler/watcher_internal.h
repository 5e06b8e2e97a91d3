// SPDX-License-Identifier: Apache-2.0
/* What watch.c (events, history) and watcher.c (one stream) share; others use watcher.h. */
#pragma once

#include "handler/watcher.h"

#define WATCH_HISTORY_BYTES (16u << 20)

struct watch_event {
	uint64_t version;
	char *kind, *ns, *name;
	char *text;  /* the object as JSON */
	json_t *was; /* what selectors see before it; NULL: the object was not there */
	json_t *is;  /* the same after it; NULL: the object has gone */
};

struct watch {
	struct watcher *streams;
	/* what "before" means for the next event: {"kind\nns\nname": selector_part} */
	json_t *parts;
	struct watch_event history[WATCH_HISTORY]; /* a ring */
	size_t begin, n, bytes;			   /* bytes: of the texts in it */
	uint64_t floor; /* events after this version are all in the ring */
};

struct watcher {
	struct watcher *next;
	struct watch *hub; /* borrowed */
	char kind[128];
	char *ns; /* NULL: all */
	struct selector *selector;
	void (*wake)(void *arg);
	void *arg;
	char *buf;
	size_t begin, end, size; /* unread bytes are [begin, end) */
	size_t behind_max;
	bool mid_line; /* what was read last is not a whole line */
	bool ended;
};

/* Is it of this stream? Then append the line. Wakes the reader. */
void watcher_event(struct watcher *w, const struct watch_event *e);
