// SPDX-License-Identifier: Apache-2.0
/*
 * A guest's serial console on our stdin and stdout. A terminal on stdin is put into raw mode; Ctrl-]
 * leaves the console. Without a terminal stdin is passed on only when asked for.
 */
#pragma once

#include "cmd/client.h"

#include <systemd/sd-event.h>

struct attach;

enum attach_end {
	ATTACH_LEFT,	  /* Ctrl-] */
	ATTACH_CLOSED,	  /* the handler said that it is over */
	ATTACH_CUT,	  /* the connection is gone */
	ATTACH_NO_READER, /* nobody reads our stdout any more */
};

/* The last call; may free the attach. */
typedef void (*attach_end_fn)(void *arg, enum attach_end why);

/* pipe_stdin: also what is not a terminal is passed on. A refusal as ws_open says it. */
int attach_open(struct client *c, sd_event *event, const char *ns, const char *name,
		bool pipe_stdin, attach_end_fn on_end, void *arg, struct attach **ret,
		struct err *err);
void attach_free(struct attach *a); /* the terminal is as before; NULL is fine */
