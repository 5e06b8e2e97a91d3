// SPDX-License-Identifier: Apache-2.0
/*
 * An on-demand handler ends when it has no VM, no client and no pending work; and it leaves the cgroups
 * of whoever started it, so that their limits and their end are not its own.
 */
#pragma once

#include "handler/handler.h"

int idle_watch(struct handler *h, struct err *err);

/* Move this process to the top group of every hierarchy. Hosts where it may not are no error. */
void idle_leave_cgroups(void);
