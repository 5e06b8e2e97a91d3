// SPDX-License-Identifier: Apache-2.0
/*
 * Ending a guest: ACPI power button at once and again every 5 s (a guest that is still booting misses
 * the first ones) until the grace period is over; then SIGTERM to QEMU, 5 s later SIGKILL. Pure: the
 * caller brings the clock, wakes it when it says so, and does what it asks for.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SHUTDOWN_ACPI_EVERY_US 5000000ull
#define SHUTDOWN_TERM_US       5000000ull /* between SIGTERM and SIGKILL */
#define SHUTDOWN_NEVER	       UINT64_MAX

struct shutdown_ops {
	void (*powerdown)(void *arg);
	void (*signal)(void *arg, int sig); /* to QEMU */
};

enum shutdown_phase { SHUTDOWN_IDLE, SHUTDOWN_ACPI, SHUTDOWN_TERM, SHUTDOWN_KILL };

struct shutdown {
	const struct shutdown_ops *ops;
	void *arg;
	enum shutdown_phase phase;
	uint64_t deadline;  /* end of the phase */
	uint64_t next_acpi; /* next press of the button */
};

/* Each returns when to call shutdown_tick next, in the caller's microseconds, or SHUTDOWN_NEVER. */

/* Grace 0 sends SIGTERM at once. A second request may shorten the time that is left, never extend it. */
uint64_t shutdown_begin(struct shutdown *s, uint64_t now, uint64_t grace_us);
uint64_t shutdown_kill(struct shutdown *s, uint64_t now); /* SIGKILL at once */
/* QEMU gave up by itself: SIGKILL if it is still there after SHUTDOWN_TERM_US. */
uint64_t shutdown_expect_exit(struct shutdown *s, uint64_t now);
uint64_t shutdown_tick(struct shutdown *s, uint64_t now);
