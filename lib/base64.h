// SPDX-License-Identifier: Apache-2.0
/* Base64 (RFC 4648, section 4). */
#pragma once

#include <stddef.h>

#define BASE64_SIZE(len) (((len) + 2) / 3 * 4 + 1) /* text of `len` bytes, with the NUL */

/* The result is `buf`, which holds BASE64_SIZE(len) bytes. */
char *base64_encode(const void *data, size_t len, char *buf);
