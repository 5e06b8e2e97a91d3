// SPDX-License-Identifier: Apache-2.0
/* Bytes of a stream into lines, with a bound on each line. Pure over (bytes, length). */
#pragma once

#include <stddef.h>

struct lines {
	char *buf; /* the line that has begun */
	size_t len, size;
	size_t max; /* longest line; set by the owner */
};

/*
 * Calls fn for each line that data[len] ends, without its newline (and carriage return), with a NUL
 * behind it; an empty line is not reported. Stops at fn's first negative result and returns it.
 * -EMSGSIZE when a line grows beyond max: the stream is then useless.
 */
int lines_feed(struct lines *l, const char *data, size_t len,
	       int (*fn)(void *arg, char *line, size_t len), void *arg);

void lines_done(struct lines *l);
