// SPDX-License-Identifier: Apache-2.0
/*
 * run/handler.log, the stderr of a handler that virtpod started: guests can't flood it, but one that is
 * started again and again has its few lines each time.
 */
#pragma once

#include "handler/handler.h"

#define OWNLOG_MAX (1u << 20) /* bytes; then it becomes handler.log.1, and a new one begins */

/* Called now and then. Where stderr is something else (a unit's journal) nothing happens. */
void ownlog_bound(struct handler *h);
