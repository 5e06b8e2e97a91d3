// SPDX-License-Identifier: Apache-2.0
/* The reconcile round: every VMI once, whenever something changed (handler_kick). */
#pragma once

#include "handler/handler.h"

/* Prepare the (disarmed) event source that handler_kick arms. */
int loop_init(struct handler *h, struct err *err);
