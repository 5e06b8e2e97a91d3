// SPDX-License-Identifier: Apache-2.0
/*
 * The last RING_SIZE bytes of an endless stream. A byte's position is its number since the stream
 * began, so a reader is one number, and what it missed is a subtraction. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define RING_SIZE (64u * 1024u) /* a power of two */

struct ring {
	char data[RING_SIZE];
	uint64_t end; /* bytes ever written */
};

void ring_write(struct ring *r, const char *data, size_t len);
uint64_t ring_start(const struct ring *r); /* oldest byte still there */

/* Bytes in one piece at position pos (ring_start <= pos <= end), borrowed; 0 when pos is the end. */
size_t ring_peek(const struct ring *r, uint64_t pos, const char **ret);
