// SPDX-License-Identifier: Apache-2.0
#include "launcher/shutdown.h"

#include <signal.h>

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t shutdown_tick(struct shutdown *s, uint64_t now)
{
	if (s->phase == SHUTDOWN_ACPI && now >= s->deadline) {
		s->phase = SHUTDOWN_TERM;
		s->deadline = now + SHUTDOWN_TERM_US;
		s->ops->signal(s->arg, SIGTERM);
		return s->deadline;
	}
	if (s->phase == SHUTDOWN_ACPI) {
		if (now >= s->next_acpi) {
			s->next_acpi = now + SHUTDOWN_ACPI_EVERY_US;
			s->ops->powerdown(s->arg);
		}
		return min_u64(s->next_acpi, s->deadline);
	}
	if (s->phase == SHUTDOWN_TERM) {
		if (now < s->deadline)
			return s->deadline;
		return shutdown_kill(s, now);
	}
	return SHUTDOWN_NEVER;
}

uint64_t shutdown_begin(struct shutdown *s, uint64_t now, uint64_t grace_us)
{
	uint64_t deadline = grace_us > UINT64_MAX - 1 - now ? UINT64_MAX - 1 : now + grace_us;

	if (s->phase == SHUTDOWN_IDLE) {
		s->phase = SHUTDOWN_ACPI;
		s->deadline = deadline;
		s->next_acpi = now;
	} else if (s->phase == SHUTDOWN_ACPI) {
		s->deadline = min_u64(s->deadline, deadline);
	}
	return shutdown_tick(s, now);
}

uint64_t shutdown_kill(struct shutdown *s, uint64_t now)
{
	(void)now;
	s->phase = SHUTDOWN_KILL;
	s->ops->signal(s->arg, SIGKILL);
	return SHUTDOWN_NEVER;
}

uint64_t shutdown_expect_exit(struct shutdown *s, uint64_t now)
{
	if (s->phase == SHUTDOWN_IDLE || s->phase == SHUTDOWN_ACPI) {
		s->phase = SHUTDOWN_TERM;
		s->deadline = now + SHUTDOWN_TERM_US;
	}
	return shutdown_tick(s, now);
}
