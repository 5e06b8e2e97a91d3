// SPDX-License-Identifier: Apache-2.0
/* What console.c (the request) and console_pump.c (bytes both ways) share. */
#pragma once

#include "handler/console.h"

#include <wslay/wslay.h>

/*
 * The most that waits for a side that does not read; then the other side is not read any more. It is
 * more than libmicrohttpd can have read beyond the header, so that those bytes always fit at once.
 */
#define CONSOLE_BUFFER (2 * SERVER_CONNECTION_MEMORY)

struct console {
	struct console *next; /* in the server's list */
	struct server *s;
	int pod_fd; /* our end of the socketpair; owned */

	/* until the answer */
	struct request *request; /* NULL once it is upgraded or refused */
	bool waiting;		 /* for the launcher; the request is suspended */
	bool orphan;		 /* the server has closed meanwhile */
	int result;
	struct err failure;
	char key[32];
	bool plain; /* the client offered plain.kubevirt.io */

	/* from then on */
	struct MHD_UpgradeResponseHandle *upgrade;
	int client_fd; /* libmicrohttpd's */
	wslay_event_context_ptr ws;
	sd_event_source *client_io, *pod_io, *linger;
	char *early; /* read by libmicrohttpd beyond the header; owned */
	size_t early_begin, early_len;
	bool control; /* the frame that is being received is not data */
	bool pod_ended, client_ended;
	char to_pod[CONSOLE_BUFFER];
	size_t to_pod_len;
};

/* Begin to move bytes; on failure the connection is closed again. */
void console_pump_start(struct console *c);
