// SPDX-License-Identifier: Apache-2.0
/* A watch stream in an sd-event loop: libcurl's multi interface, its sockets and timer as sources. */
#pragma once

#include "cmd/client.h"

#include <systemd/sd-event.h>

struct stream;

/* One event of the stream; object is borrowed. Must not free the stream. */
typedef void (*stream_event_fn)(void *arg, const char *type, json_t *object);
/* The last call; err->code is 0 when the server ended it in order. May free the stream. */
typedef void (*stream_end_fn)(void *arg, const struct err *err);

int stream_open(struct client *c, sd_event *event, const char *path, stream_event_fn on_event,
		stream_end_fn on_end, void *arg, struct stream **ret, struct err *err);
void stream_free(struct stream *s); /* NULL is fine */
