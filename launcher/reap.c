// SPDX-License-Identifier: Apache-2.0
/*
 * PID 1 reaps every child, its own and the orphans of others. Each is looked at before it is reaped:
 * while it is a zombie its pid is taken, so that nothing here can mistake another process for it, and
 * QEMU's status is on record before it can get lost.
 */
#include "launcher/internal.h"

#include "lib/log.h"
#include "lib/stop.h"
#include "lib/util.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/* Last words first, then the verdict, on disk before anybody is told. */
static void qemu_ended(struct launcher *l)
{
	struct outcome outcome;
	struct err err = {0};

	output_read(l);
	tail_text(&l->words, l->ending.words, sizeof l->ending.words);
	if (l->qmp)
		qmp_finish(l->qmp);
	if (l->console)
		console_finish(l->console);
	ending_classify(&l->ending, &outcome);
	log_info("%s: %s", outcome_name(outcome.kind), outcome.message);
	stop_at("launcher-ended");
	if (outcome_write(l->outcome_fd, &outcome, &err) < 0)
		log_error("%s", err.msg);
	stop_at("launcher-told");
	if (l->stage == STAGE_STARTING) {
		err = (struct err){0};
		(void)err_set(&err, -ECHILD, "start: %s", outcome.message);
		peer_refuse(l->peer, &l->start_to, &err);
	}
	(void)sd_event_exit(l->event, 0);
}

static void on_child(struct launcher *l, const siginfo_t *si)
{
	bool qemu = l->qemu.pid && si->si_pid == l->qemu.pid;
	siginfo_t again;

	if (qemu) {
		l->ending.killed_by_sig = si->si_code != CLD_EXITED;
		l->ending.status = si->si_status;
		l->qemu.pid = 0; /* no signal to it from here on */
	}
	(void)waitid(P_PID, (id_t)si->si_pid, &again, WEXITED | WNOHANG);
	if (qemu)
		qemu_ended(l);
}

static int on_sigchld(sd_event_source *s, const struct signalfd_siginfo *si, void *arg)
{
	(void)s;
	(void)si; /* signals coalesce: one may stand for several children */
	for (;;) {
		siginfo_t child = {0};

		if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) < 0 || !child.si_pid)
			return 0;
		on_child(arg, &child);
	}
}

int reap_init(struct launcher *l)
{
	sd_event_source *s;
	int r = sd_event_add_signal(l->event, &s, SIGCHLD, on_sigchld, l);

	if (r < 0)
		return r;
	(void)sd_event_source_set_description(s, "sigchld");
	r = sd_event_source_set_floating(s, 1); /* the loop's own from here on */
	(void)sd_event_source_unref(s);
	return r;
}
