// SPDX-License-Identifier: Apache-2.0
/*
 * Errors: a negative errno as return value, and beside it one fixed-size object that says where,
 * what and how to mend it. The lowest layer that knows the object's name fills it once
 * (err_set); callers on the way up may put their own context in front (err_prefix); only main
 * loops print it. Being flat it needs no memory after clone, never leaks, and crosses sockets whole.
 */
#pragma once

#include <stdarg.h>

#define ERR_MSG_MAX 1000

struct err {
	int code; /* negative errno; 0 = no error */
	char msg[ERR_MSG_MAX];
};

/*
 * Fill *err (if not NULL) unless it holds an error already; always returns `code` (negative). The message
 * is one line of UTF-8, whatever it quotes (str_line).
 */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set, and appends ": " and strerror of the code. */
int err_errno(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "text: " in front of the message; does nothing when *err holds no error. */
void err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void err_clear(struct err *err);
