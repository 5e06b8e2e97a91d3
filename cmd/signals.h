// SPDX-License-Identifier: Apache-2.0
/* A loop that hears SIGINT, SIGTERM and SIGHUP, so that no way out skips the cleaning up. */
#pragma once

#include "lib/err.h"

#include <systemd/sd-event.h>

/* The signals stay blocked for the rest of the process. *ret_event is the caller's. */
int signals_loop(sd_event **ret_event, sd_event_signal_handler_t fn, void *arg, struct err *err);
