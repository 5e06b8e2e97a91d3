// SPDX-License-Identifier: Apache-2.0
/* The words of WebSocket's opening handshake (RFC 6455, section 4.2). Pure. */
#pragma once

#include <stdbool.h>

#define HANDSHAKE_ACCEPT 29 /* Sec-WebSocket-Accept with its NUL */

/* Is `word` one of the comma-separated items, in any case? list NULL: no. */
bool handshake_list_has(const char *list, const char *word);

/* Is this Sec-WebSocket-Key 16 bytes in base64? */
bool handshake_key_ok(const char *key);

/* What has to be answered to the key; the result is `buf`. */
char *handshake_accept(const char *key, char buf[static HANDSHAKE_ACCEPT]);
