// SPDX-License-Identifier: Apache-2.0
/*
 * SHA-1 (FIPS 180-4) of short texts, for the protocols that still ask for it (RFC 6455's handshake).
 * It is broken as a guard against forgery: never use it as one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA1_SIZE 20

void sha1(const void *data, size_t len, uint8_t ret[static SHA1_SIZE]);
