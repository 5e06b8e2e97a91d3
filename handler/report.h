// SPDX-License-Identifier: Apache-2.0
/* inspect and verify over HTTP: QEMU is asked first, then the kernel is read while the client waits. */
#pragma once

#include "handler/call.h"
#include "handler/server_internal.h"

/* Suspends the request while QEMU is asked; it is dispatched again then. false: there is none to ask. */
bool report_ask(struct request *r, const struct call *c);

unsigned report_answer(struct server *s, const struct call *c, json_t **ret);

void report_forget(struct request *r);	 /* the client left */
void report_close_all(struct server *s); /* whoever waits gets no answer */
