// SPDX-License-Identifier: Apache-2.0
/* A loop that hears SIGINT, SIGTERM and SIGHUP, so that no way out skips the cleaning up. */
#pragma once

#include "lib/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

/* The signals stay blocked for the rest of the process. *ret_event is the caller's. */
int signals_loop(sd_event **ret_event, sd_event_signal_handler_t fn, void *arg, struct err *err);

/*
 * Is a signal at now_us (monotonic) another word of the user's? Within half a second of the last that
 * counted it is an echo of that one: timeout(1), say, signals its child and then the whole group.
 * *last_us is the caller's memory, 0 before the first.
 */
bool signals_counts(uint64_t *last_us, uint64_t now_us);
