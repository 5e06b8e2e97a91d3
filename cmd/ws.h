// SPDX-License-Identifier: Apache-2.0
/*
 * The client's end of a WebSocket (RFC 6455) over the handler's Unix socket, subprotocol
 * plain.kubevirt.io, in an sd-event loop. The handshake is made at once; frames are wslay's.
 */
#pragma once

#include "cmd/client.h"

#include <stddef.h>
#include <systemd/sd-event.h>

struct ws;

typedef void (*ws_data_fn)(void *arg, const void *data, size_t len);
/* clean: the server said goodbye. The last call; may free the ws. */
typedef void (*ws_end_fn)(void *arg, bool clean);

/* A refusal has the errno and the words of its Status (client_status_error): -EINVAL: not running. */
int ws_open(struct client *c, sd_event *event, const char *path, ws_data_fn on_data,
	    ws_end_fn on_end, void *arg, struct ws **ret, struct err *err);
void ws_free(struct ws *ws); /* NULL is fine */

/* Queue a binary message. -EPIPE: the connection is over. */
int ws_send(struct ws *ws, const void *data, size_t len);

/* Give the connection up; on_end follows from the loop. May be called from on_data. */
void ws_close(struct ws *ws);

/* Bytes that wait for the socket. */
size_t ws_queued(const struct ws *ws);
