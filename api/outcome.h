// SPDX-License-Identifier: Apache-2.0
/*
 * How a guest ended. The launcher writes it, once, into a file that the handler opened for it,
 * before it exits; a handler that restarted and is no longer the parent reads it, too. To the handler
 * the file's content is a stranger's word: bounded, checked, texts cleaned.
 */
#pragma once

#include "lib/err.h"

#include <stddef.h>

#define OUTCOME_MAX 4096 /* bytes of the file */

enum outcome_kind {
	OUTCOME_NONE,	     /* nothing written: the launcher was killed */
	OUTCOME_SHUTDOWN,    /* the guest powered off, by itself or as asked */
	OUTCOME_KILLED,	     /* we ended it: kill, or the grace period was over */
	OUTCOME_CRASHED,     /* guest panicked, or QEMU died of a signal */
	OUTCOME_QEMU_FAILED, /* QEMU could not start or gave up; message has its words */
	OUTCOME_WATCHDOG,    /* the guest's watchdog fired with action poweroff or shutdown */
};

struct outcome {
	enum outcome_kind kind;
	int exit_status;   /* QEMU's exit status, or -signal */
	char message[512]; /* one printable line */
};

const char *outcome_name(enum outcome_kind kind); /* "Shutdown", "Killed", … for status and JSON */

int outcome_write(int fd, const struct outcome *o, struct err *err);

/* An empty file is OUTCOME_NONE; anything malformed is -EBADMSG. The fd's offset does not matter. */
int outcome_read(int fd, struct outcome *ret, struct err *err);

/* The same of the file's content. Pure. */
int outcome_parse(const char *text, size_t len, struct outcome *ret, struct err *err);
