// SPDX-License-Identifier: Apache-2.0
/* The last words of a program: the end of what it wrote to stderr, for the message when it fails. */
#pragma once

#include <stddef.h>

#define TAIL_SIZE 2048

struct tail {
	char buf[TAIL_SIZE];
	size_t len;
};

void tail_add(struct tail *t, const char *data, size_t len);

/* As one printable line, lines joined by "; "; the end is kept when `size` is too small. */
void tail_text(const struct tail *t, char *ret, size_t size);
