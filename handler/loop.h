// SPDX-License-Identifier: Apache-2.0
/* The reconcile round: every VMI once, whenever something changed (handler_kick). */
#pragma once

#include "handler/handler.h"

/* Prepare the (disarmed) event source that handler_kick arms. */
int loop_init(struct handler *h, struct err *err);
void loop_close(struct handler *h);

/*
 * A start was refused: it is tried again after the next change of ours, and slowly in any case, for
 * what changes where we don't see it (another root's VMs, other users' cpusets).
 */
void loop_refused(struct handler *h, const char *uid, const char *why);

/*
 * A version for a status. 0: there is none now; what changed is announced later, when there is (of a VMI:
 * vmi_publish_withheld; others are compared anew).
 */
uint64_t loop_version(struct handler *h);

/* Why its last start was refused, borrowed; NULL when it was not. */
const char *loop_refusal(const struct handler *h, const char *uid);
