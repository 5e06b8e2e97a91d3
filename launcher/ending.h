// SPDX-License-Identifier: Apache-2.0
/* How the guest ended, out of what was seen of it. Pure. */
#pragma once

#include "api/outcome.h"

#include <stdbool.h>

struct ending {
	bool started;	    /* QMP answered and the threads were known */
	bool asked;	    /* shutdown was requested */
	int sent;	    /* last signal that we sent to QEMU, 0 = none */
	bool panicked;	    /* GUEST_PANICKED */
	bool watchdog;	    /* WATCHDOG with an action that ends the guest */
	char reason[32];    /* of QMP's SHUTDOWN event, "" = there was none */
	char failure[250];  /* what we found wrong with QEMU, "" = nothing */
	char words[250];    /* the end of what QEMU wrote to stderr */
	bool killed_by_sig; /* QEMU's end: by a signal, or … */
	int status;	    /* … its number, or the exit status */
};

/* Take note of a QMP event; others are ignored. `text` is reason or action, NULL if none. */
void ending_note_event(struct ending *e, const char *event, const char *text);

void ending_classify(const struct ending *e, struct outcome *ret);
