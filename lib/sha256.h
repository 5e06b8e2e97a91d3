// SPDX-License-Identifier: Apache-2.0
/* SHA-256 (FIPS 180-4) of short texts, for names and ids that others derive the same way. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32
#define SHA256_HEX  (2 * SHA256_SIZE + 1) /* as text, with the NUL */

/* Digest of `len` bytes. Not constant-time: never give it a secret. */
void sha256(const void *data, size_t len, uint8_t ret[static SHA256_SIZE]);

/* Digest of a string in lower-case hex; the result is `ret`. */
char *sha256_hex(const char *text, char ret[static SHA256_HEX]);
