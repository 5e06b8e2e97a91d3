// SPDX-License-Identifier: Apache-2.0
/* What a VMI's status means for who waits for its end. Pure. */
#pragma once

#include "cmd/cli.h"

#include <jansson.h>
#include <time.h>

enum verdict_state { VERDICT_GOES_ON, VERDICT_ENDED, VERDICT_REFUSED };

struct verdict {
	enum verdict_state state;
	enum exit_code code; /* of ENDED and REFUSED */
	const char *reason;  /* borrowed: a word for message, "" without one */
	const char *message; /* borrowed from the VMI or static; "" when there is nothing to say */
	const char *phase;   /* borrowed; "Pending" when there is none yet */
	double started_seconds; /* how long the start took; 0: not known yet */
};

/*
 * Ended: phase Succeeded or Failed. The code is 0 when the guest was shut down or, deleted on request,
 * killed; else 1. Refused (3): its start was refused and nothing but a change elsewhere can mend it.
 */
void verdict_of(const json_t *vmi, struct verdict *ret);

/* Seconds until a guest that was asked to shut down is killed; -1: none of this VMI's or VM's was. */
long verdict_kill_in(const json_t *object, time_t now);

/*
 * Why a VMI or a VM does not run, or will not for long, in a word and a sentence, borrowed; both ""
 * when it does, or when nothing is known to be in its way.
 */
void verdict_why(const json_t *object, const char **ret_reason, const char **ret_message);

/* How it is with an object of any kind, for a sentence: "Failed: FailedStart: no image". The caller's. */
char *verdict_text(const json_t *object);
