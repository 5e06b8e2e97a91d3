// SPDX-License-Identifier: Apache-2.0
#include "lib/sha1.h"

#include <string.h>

#define BLOCK 64

static uint32_t rotate(uint32_t x, unsigned n)
{
	return x << n | x >> (32 - n);
}

static uint32_t word_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The round's function and constant: FIPS 180-4, 4.1.1 and 4.2.1. */
static uint32_t mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
	switch (round / 20) {
	case 0:
		return ((b & c) | (~b & d)) + 0x5a827999;
	case 1:
		return (b ^ c ^ d) + 0x6ed9eba1;
	case 2:
		return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
	default:
		return (b ^ c ^ d) + 0xca62c1d6;
	}
}

static void take_block(uint32_t state[5], const uint8_t *block)
{
	uint32_t w[80], v[5];

	for (unsigned i = 0; i < 16; i++)
		w[i] = word_at(block + (size_t)4 * i);
	for (unsigned i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	memcpy(v, state, sizeof v);
	for (unsigned i = 0; i < 80; i++) {
		uint32_t first = rotate(v[0], 5) + mix(i, v[1], v[2], v[3]) + v[4] + w[i];

		v[4] = v[3];
		v[3] = v[2];
		v[2] = rotate(v[1], 30);
		v[1] = v[0];
		v[0] = first;
	}
	for (unsigned i = 0; i < 5; i++)
		state[i] += v[i];
}

void sha1(const void *data, size_t len, uint8_t ret[static SHA1_SIZE])
{
	uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
	uint8_t last[2 * BLOCK] = {0}; /* the rest, 0x80, zeros and the length in bits */
	const uint8_t *p = data;
	size_t rest = len % BLOCK, total = rest + 9 > BLOCK ? sizeof last : BLOCK;

	for (; p + rest < (const uint8_t *)data + len; p += BLOCK)
		take_block(state, p);
	if (rest)
		memcpy(last, p, rest);
	last[rest] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		last[total - 1 - i] = (uint8_t)((uint64_t)len * 8 >> (8 * i));
	for (size_t at = 0; at < total; at += BLOCK)
		take_block(state, last + at);
	for (unsigned i = 0; i < SHA1_SIZE; i++)
		ret[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}
