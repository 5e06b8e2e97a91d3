// SPDX-License-Identifier: Apache-2.0
/*
 * The console's log file: everything the guest says, up to CONLOG_MAX bytes; then the older half goes
 * and writing continues in the same file, which the handler opened and may be reading.
 */
#pragma once

#include "lib/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONLOG_MAX (4u * 1024u * 1024u)

struct conlog {
	int fd; /* owned; -1: no log */
	uint64_t size;
	bool broken; /* a write failed and was reported */
};

/* Eats the fd, which must be a regular file open for reading and writing; appends to what it holds. */
int conlog_open(int fd_consume, struct conlog *ret, struct err *err);

/* A full disk loses log lines, never the guest: reported once, ignored. */
void conlog_write(struct conlog *l, const char *data, size_t len);

void conlog_done(struct conlog *l);
