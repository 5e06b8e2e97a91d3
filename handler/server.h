// SPDX-License-Identifier: Apache-2.0
/*
 * The API: HTTP on run/handler.sock, for root and for the handler's own user only. libmicrohttpd does
 * HTTP without a thread of its own: its epoll descriptor is one more source of the event loop.
 */
#pragma once

#include "handler/handler.h"

#include <stdbool.h>

/* h needs its store, event loop, topology and configuration; the rest may come later. */
int server_open(struct handler *h, struct err *err);
void server_close(struct handler *h); /* every connection ends; a server that is not open is fine */

/* No connection is open. */
bool server_idle(const struct handler *h);
