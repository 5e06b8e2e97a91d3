// SPDX-License-Identifier: Apache-2.0
/*
 * SHA-256 after FIPS 180-4. Own code because the kernel's AF_ALG is not in every kernel that this
 * project runs on, and a cryptography library would be the largest one of the process for a few
 * interface names.
 */
#include "lib/sha256.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 64

/* FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the first 64 primes' cube roots */
static const uint32_t K[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t ror(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void schedule(const uint8_t *block, uint32_t w[static 64])
{
	memcpy(w, block, BLOCK);
	for (int t = 0; t < 16; t++)
		w[t] = be32toh(w[t]);
	for (int t = 16; t < 64; t++) {
		uint32_t a = w[t - 15], b = w[t - 2];

		w[t] = (ror(b, 17) ^ ror(b, 19) ^ b >> 10) + w[t - 7] +
		       (ror(a, 7) ^ ror(a, 18) ^ a >> 3) + w[t - 16];
	}
}

static void compress(uint32_t h[static 8], const uint8_t *block)
{
	uint32_t w[64], s[8];

	schedule(block, w);
	memcpy(s, h, sizeof s);
	for (int t = 0; t < 64; t++) {
		uint32_t a = s[0], e = s[4];
		uint32_t t1 = s[7] + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) +
			      ((e & s[5]) ^ (~e & s[6])) + K[t] + w[t];
		uint32_t t2 = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) +
			      ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof *s);
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		h[i] += s[i];
}

void sha256(const void *data, size_t len, uint8_t ret[static SHA256_SIZE])
{
	/* 5.3.3: the square roots of the first eight primes */
	uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	uint8_t tail[2 * BLOCK] = {0};
	const uint8_t *p = data;
	size_t left = len, tail_len;
	uint64_t bits = htobe64((uint64_t)len * 8);

	for (; left >= BLOCK; p += BLOCK, left -= BLOCK)
		compress(h, p);
	if (left)
		memcpy(tail, p, left);
	tail[left] = 0x80; /* 5.1.1: a one bit, zeros, then the length in bits */
	tail_len = left + 1 + sizeof bits > BLOCK ? 2 * BLOCK : BLOCK;
	memcpy(tail + tail_len - sizeof bits, &bits, sizeof bits);
	for (size_t i = 0; i < tail_len; i += BLOCK)
		compress(h, tail + i);
	for (int i = 0; i < 8; i++) {
		uint32_t be = htobe32(h[i]);

		memcpy(ret + 4 * i, &be, sizeof be);
	}
}

char *sha256_hex(const char *text, char ret[static SHA256_HEX])
{
	uint8_t digest[SHA256_SIZE];

	sha256(text, strlen(text), digest);
	for (size_t i = 0; i < SHA256_SIZE; i++)
		(void)snprintf(ret + 2 * i, 3, "%02x", digest[i]);
	return ret;
}
