// SPDX-License-Identifier: Apache-2.0
/* The guest's end as asked for: shutdown.c decides, this does it. */
#include "launcher/internal.h"

#include "lib/child.h"
#include "lib/log.h"
#include "lib/stop.h"

#include <signal.h>
#include <string.h>
#include <time.h>

static void on_powerdown(void *arg, int r, const json_t *result, const char *error)
{
	(void)arg;
	(void)result;
	if (r < 0)
		log_warning("system_powerdown: %s, ignoring", error);
}

static void do_powerdown(void *arg)
{
	struct launcher *l = arg;

	/* closed or full: the next press or SIGTERM follows anyway */
	if (l->qmp)
		(void)qmp_call(l->qmp, "system_powerdown", NULL, QMP_TIMEOUT_US, on_powerdown, l);
}

static void do_signal(void *arg, int sig)
{
	struct launcher *l = arg;
	int r;

	if (!l->qemu.pid)
		return;
	if (sig == SIGTERM)
		stop_at("stop-sigterm");
	l->ending.sent = sig;
	r = child_signal(l->qemu.pidfd, sig);
	if (r < 0)
		log_warning("signal %d to QEMU: %s, ignoring", sig, strerror(-r));
}

static void arm(struct launcher *l, uint64_t when)
{
	(void)sd_event_source_set_enabled(l->shutdown_timer, SD_EVENT_OFF);
	if (when == SHUTDOWN_NEVER)
		return;
	(void)sd_event_source_set_time(l->shutdown_timer, when);
	(void)sd_event_source_set_enabled(l->shutdown_timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *arg)
{
	struct launcher *l = arg;

	(void)s;
	(void)usec;
	arm(l, shutdown_tick(&l->shutdown, launcher_now(l)));
	return 0;
}

void stop_begin(struct launcher *l, uint64_t grace_seconds)
{
	bool deaf = l->stage < STAGE_RUNNING || !l->plan->acpi;

	if (!l->qemu.pid) {
		(void)sd_event_exit(l->event, 0);
		return;
	}
	l->ending.asked = true;
	stop_at("stop-asked");
	arm(l, shutdown_begin(&l->shutdown, launcher_now(l), deaf ? 0 : grace_seconds * 1000000));
}

void stop_kill(struct launcher *l)
{
	if (l->qemu.pid)
		arm(l, shutdown_kill(&l->shutdown, launcher_now(l)));
	else
		(void)sd_event_exit(l->event, 0);
}

void stop_expect_exit(struct launcher *l)
{
	arm(l, shutdown_expect_exit(&l->shutdown, launcher_now(l)));
}

static int on_sigterm(sd_event_source *s, const struct signalfd_siginfo *si, void *arg)
{
	struct launcher *l = arg;

	(void)s;
	(void)si;
	log_info("SIGTERM, shutting down");
	stop_begin(l, l->plan ? l->plan->grace_seconds : 0);
	return 0;
}

int stop_init(struct launcher *l)
{
	static const struct shutdown_ops ops = {.powerdown = do_powerdown, .signal = do_signal};
	sd_event_source *s;
	int r;

	l->shutdown = (struct shutdown){.ops = &ops, .arg = l};
	r = sd_event_add_time(l->event, &l->shutdown_timer, CLOCK_MONOTONIC, UINT64_MAX, 1,
			      on_timer, l);
	if (r < 0)
		return r;
	(void)sd_event_source_set_enabled(l->shutdown_timer, SD_EVENT_OFF);
	(void)sd_event_source_set_description(l->shutdown_timer, "shutdown");
	r = sd_event_add_signal(l->event, &s, SIGTERM, on_sigterm, l);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(s, "sigterm");
	r = sd_event_source_set_floating(s, 1); /* the loop's own from here on */
	(void)sd_event_source_unref(s);
	return r;
}
