// SPDX-License-Identifier: Apache-2.0
/* The HTTP part of a WebSocket: the request, the 101, or the Status of a refusal. */
#pragma once

#include "lib/err.h"

/* Connect to handler.sock below run_fd and upgrade; *ret_fd is the caller's, blocking. */
int ws_handshake(int run_fd, const char *path, int *ret_fd, struct err *err);
