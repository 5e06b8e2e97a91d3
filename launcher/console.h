// SPDX-License-Identifier: Apache-2.0
/*
 * The serial console. QEMU's side is always drained, into a scrollback of 64 KiB and the log, so that
 * a client that does not read never stops the guest. One client at a time: it gets the scrollback
 * first; when it is too slow it loses the oldest bytes and is told once how many. What it types is
 * read only as fast as the guest takes it.
 */
#pragma once

#include "lib/err.h"
#include "lib/logfile.h"

#include <systemd/sd-event.h>

struct console;

/* Eats fd (a stream socket) also on failure; takes *log over. */
int console_new(sd_event *event, int fd_consume, struct logfile *log, struct console **ret,
		struct err *err);

/* Eats fd. -EBUSY while there is a client. */
int console_attach(struct console *c, int fd_consume, struct err *err);

/* After QEMU's end: take what is still in its socket, and give the client what it accepts at once. */
void console_finish(struct console *c);

void console_free(struct console *c); /* NULL is fine */
