// SPDX-License-Identifier: Apache-2.0
/* A watch stream in an sd-event loop: libcurl's multi interface, its sockets and timer as sources. */
#pragma once

#include "cmd/client.h"

#include <systemd/sd-event.h>

struct watching;

/* One event of the stream; object is borrowed. Must not free the stream. */
typedef void (*watching_event_fn)(void *arg, const char *type, json_t *object);
/* The last call; err->code is 0 when the server ended it in order. May free the stream. */
typedef void (*watching_end_fn)(void *arg, const struct err *err);

int watching_open(struct client *c, sd_event *event, const char *path, watching_event_fn on_event,
		  watching_end_fn on_end, void *arg, struct watching **ret, struct err *err);
void watching_free(struct watching *s); /* NULL is fine */
