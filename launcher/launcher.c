// SPDX-License-Identifier: Apache-2.0
/*
 * One process, one thread, one event loop. Sources: the handler's channel and its listener (peer.c),
 * SIGCHLD (reap.c), SIGTERM and the shutdown timer (stop.c), and once there is a QEMU its monitor, its
 * output (monitor.c) and the two sides of the console (console.c).
 */
#include "launcher/launcher.h"

#include "launcher/internal.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

uint64_t launcher_now(const struct launcher *l)
{
	uint64_t t = 0;

	(void)sd_event_now(l->event, CLOCK_MONOTONIC,
			   &t); /* before the loop runs: the clock itself */
	return t;
}

/* A VM goes on without a handler; a pod that has none yet is of no use to anybody. */
static void on_lost(void *arg)
{
	struct launcher *l = arg;

	if (l->qemu.pid) {
		log_info("the handler is gone, waiting for another");
		return;
	}
	log_error("the handler is gone before it started a VM");
	(void)sd_event_exit(l->event, -ECONNRESET);
}

static int send_event(void *arg, const json_t *event)
{
	const struct launcher *l = arg;

	return peer_event(l->peer, event);
}

/*
 * SIGPIPE: stderr, sockets and consoles may lose their readers at any time. The two signals are blocked
 * for good because the loop takes them from a descriptor; QEMU's child unblocks its own.
 */
static void prepare_signals(void)
{
	sigset_t set;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
}

static void launcher_done(struct launcher *l)
{
	console_free(l->console);
	qmp_free(l->qmp);
	(void)sd_event_source_disable_unref(l->output);
	(void)sd_event_source_disable_unref(l->threads_timer);
	(void)sd_event_source_disable_unref(l->shutdown_timer);
	forward_free(l->forward);
	peer_free(l->peer);
	qemu_done(&l->qemu);
	plan_free(l->plan);
	json_decref(l->vcpus);
	json_decref(l->iothreads);
	l->outcome_fd = fd_close(l->outcome_fd);
	logfile_done(&l->output_log);
	sd_event_unref(l->event);
}

int launcher_run(int channel_consume, int listener_consume, struct err *err)
{
	static const struct peer_ops ops = {.request = command_request, .lost = on_lost};
	_cleanup_(launcher_done) struct launcher l = {
		.outcome_fd = -1, .output_log = {.fd = -1}, .qemu = {.pidfd = -1, .output = -1}};
	_cleanup_fd_ int channel = channel_consume, listener = listener_consume;
	int r;

	prepare_signals();
	r = sd_event_new(&l.event);
	if (r >= 0)
		r = reap_init(&l);
	if (r >= 0)
		r = stop_init(&l);
	if (r >= 0)
		r = forward_new(l.event, send_event, &l, &l.forward);
	if (r < 0)
		return err_errno(err, r, "event loop");
	r = peer_new(l.event, TAKE_FD(channel), TAKE_FD(listener), &ops, &l, &l.peer, err);
	if (r < 0)
		return r;
	r = sd_event_loop(l.event);
	return r < 0 ? err_errno(err, r, "launcher") : 0;
}
