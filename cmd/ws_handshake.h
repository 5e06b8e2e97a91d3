// SPDX-License-Identifier: Apache-2.0
/* The HTTP part of a WebSocket: the request, the 101, or the Status of a refusal. */
#pragma once

#include "lib/err.h"

/* Connect to handler.sock below run_fd and upgrade; *ret_fd is the caller's, blocking. */
int ws_handshake(int run_fd, const char *path, int *ret_fd, struct err *err);

/*
 * The status code of an answer's header, up to and with its empty line; 101 only with the right answer to
 * `key`. -EIO: it is not HTTP, or not a WebSocket's. Pure.
 */
int ws_answer(const char *header, const char *key, struct err *err);
