// SPDX-License-Identifier: Apache-2.0
/*
 * Named points at which a build for tests (make STOPS=1) can be made to stand still, so that something
 * can be killed exactly there. In every other build there is nothing behind these names.
 */
#pragma once

#ifdef VIRTPOD_STOPS

/*
 * If the environment's VIRTPOD_STOP is this name: say "stopped at 'NAME'" in the log, and wait for
 * SIGCONT. Once for each process.
 */
void stop_at(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The variable as an entry for a child's environment (borrowed), or NULL. */
char *stop_environment(void);

#else

#define stop_at(...)	   ((void)0)
#define stop_environment() NULL

#endif
