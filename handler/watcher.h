// SPDX-License-Identifier: Apache-2.0
/*
 * One watch stream, free of HTTP: lines of JSON that wait to be read, bounded. Its events come from
 * the hub (watch.c), which keeps the last WATCH_HISTORY of them for clients that come back.
 */
#pragma once

#include "handler/handler.h"
#include "handler/selector.h"

#include "api/kind.h"

#include <sys/types.h>

#define WATCH_HISTORY	 1024
#define WATCH_BEHIND_MAX (1u << 20) /* bytes that a stream may be behind */

/* The hub, behind h->watches. From its opening on every watch_publish is kept. */
int watch_open(struct handler *h, struct err *err);
void watch_close(struct handler *h); /* every stream must be freed before */

struct watcher;

/*
 * A stream of one kind (ns NULL: all namespaces) from resource version `since` on: 0 means all that is
 * there as ADDED, then what comes. Too old a version is one ERROR event and the end. `wake` is called
 * when there is something to read again after watcher_read said 0. Consumes the selector.
 */
int watcher_new(struct handler *h, const struct kind *k, const char *ns,
		struct selector *selector_consume, uint64_t since, void (*wake)(void *arg),
		void *arg, struct watcher **ret, struct err *err);
void watcher_free(struct watcher *w); /* NULL is fine */

/* Bytes put into buf; 0: nothing for now; -ENODATA: it has ended and all of it was read. */
ssize_t watcher_read(struct watcher *w, char *buf, size_t size);

/* No more events; what is already there may still be read. */
void watcher_end(struct watcher *w);
bool watcher_ended(const struct watcher *w);
