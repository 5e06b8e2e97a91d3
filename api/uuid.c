// SPDX-License-Identifier: Apache-2.0
/*
 * SHA-1 (FIPS 180-4) for the one use that asks for it: version 5 UUIDs. Nothing here is a secret or
 * guards anything, so its weakness does not matter.
 */
#include "api/uuid.h"

#include <stdio.h>
#include <string.h>

#include "lib/util.h"

static uint32_t rotate(uint32_t x, unsigned n)
{
	return x << n | x >> (32 - n);
}

static void sha1_schedule(const uint8_t block[64], uint32_t w[80])
{
	for (int i = 0; i < 16; i++) {
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	}
	for (int i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
}

static void sha1_block(uint32_t h[5], const uint8_t block[64])
{
	static const uint32_t k[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
	uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

	sha1_schedule(block, w);
	for (int i = 0; i < 80; i++) {
		uint32_t f = i < 20   ? (b & c) | (~b & d)
			     : i < 40 ? b ^ c ^ d
			     : i < 60 ? (b & c) | (b & d) | (c & d)
				      : b ^ c ^ d;
		uint32_t next = rotate(a, 5) + f + e + k[i / 20] + w[i];

		e = d;
		d = c;
		c = rotate(b, 30);
		b = a;
		a = next;
	}
	h[0] += a;
	h[1] += b;
	h[2] += c;
	h[3] += d;
	h[4] += e;
}

/* data is padded in place: the caller leaves room for 1 + 63 + 8 bytes behind `len`. */
static void sha1_padded(uint8_t *data, size_t len, uint32_t h[5])
{
	static const uint32_t start[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
					  0xc3d2e1f0};
	size_t total = (len + 1 + 8 + 63) / 64 * 64;

	memcpy(h, start, sizeof(start));
	data[len] = 0x80;
	memset(data + len + 1, 0, total - len - 1);
	for (int i = 0; i < 8; i++)
		data[total - 1 - i] = (uint8_t)((uint64_t)len * 8 >> (8 * i));
	for (size_t at = 0; at < total; at += 64)
		sha1_block(h, data + at);
}

char *uuid_from_name(const uint8_t ns[static 16], const char *name, char buf[static UUID_TEXT])
{
	size_t len = strlen(name);
	_cleanup_free_ uint8_t *data = xcalloc(1, 16 + len + 72);
	uint32_t h[5];

	memcpy(data, ns, 16);
	memcpy(data + 16, name, len);
	sha1_padded(data, 16 + len, h);
	h[1] = (h[1] & 0xffff0fff) | 0x5000;	 /* version 5 */
	h[2] = (h[2] & 0x3fffffff) | 0x80000000; /* RFC 9562's variant */
	(void)snprintf(buf, UUID_TEXT, "%08x-%04x-%04x-%04x-%04x%08x", h[0], h[1] >> 16,
		       h[1] & 0xffff, h[2] >> 16, h[2] & 0xffff, h[3]);
	return buf;
}
