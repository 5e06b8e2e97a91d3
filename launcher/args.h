// SPDX-License-Identifier: Apache-2.0
/*
 * A growing argument vector, and options in QEMU's "a=b,c=d" syntax. Every value that goes through
 * args_opt is escaped: QEMU reads ",," as a comma that is part of the value, so no text of a user's
 * can begin another key.
 */
#pragma once

#include "lib/util.h"

#include <stddef.h>

struct args {
	char **v; /* NULL-terminated once anything is in it */
	size_t n;
};

void args_done(struct args *a);
#define _cleanup_args_ _cleanup_(args_done)

void args_add(struct args *a, const char *text); /* as it is */
void args_addf(struct args *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append ",key=value" to the last argument, value escaped; key NULL leaves out "key=". */
void args_opt(struct args *a, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* `text` with each comma doubled; the caller's to free. */
char *args_escape(const char *text);

void args_free(char **v); /* a vector that was taken out with TAKE_PTR(a.v) */
