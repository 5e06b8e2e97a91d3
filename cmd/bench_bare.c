// SPDX-License-Identifier: Apache-2.0
/*
 * The yardstick: QEMU with the command line of a VM of ours, forked and executed by this process as
 * root, with no pod around it. Time runs from before the fork until QMP says that the guest runs.
 */
#include "cmd/bench.h"
#include "cmd/signals.h"

#include "handler/images.h"
#include "launcher/args.h"
#include "launcher/argv.h"
#include "launcher/qmp.h"
#include "lib/child.h"
#include "lib/json.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_US 60000000ull

struct bare {
	struct bench *b;
	sd_event *event;
	struct qmp *qmp;
	uint64_t began, ready, running;
	struct err err;
};

static void finish(struct bare *w, int r, const char *why)
{
	if (r < 0)
		(void)err_set(&w->err, r, "QEMU alone: %s", why ? why : "no answer");
	(void)sd_event_exit(w->event, r);
}

static void on_status(void *arg, int r, const json_t *result, const char *error)
{
	struct bare *w = arg;

	if (r == 0 && !str_eq(json_str(result, "status"), "running"))
		r = -EIO;
	w->running = bench_now();
	finish(w, r, error ? error : "it does not run after cont");
}

static void call(struct bare *w, const char *command, qmp_reply_fn fn)
{
	int r = qmp_call(w->qmp, command, NULL, ANSWER_US, fn, w);

	if (r < 0)
		finish(w, r, "it takes no commands");
}

static void on_cont(void *arg, int r, const json_t *result, const char *error)
{
	(void)result;
	if (r < 0)
		finish(arg, r, error);
	else
		call(arg, "query-status", on_status);
}

static void on_ready(void *arg)
{
	struct bare *w = arg;

	w->ready = bench_now();
	call(w, "cont", on_cont);
}

static void on_event(void *arg, const char *name, const json_t *data)
{
	(void)arg;
	(void)name;
	(void)data;
}

static void on_closed(void *arg, const struct err *why)
{
	finish(arg, why->code, why->msg);
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *si, void *arg)
{
	struct bare *w = arg;

	(void)source;
	(void)si;
	w->b->stopped = true;
	finish(w, -ECANCELED, "interrupted");
	return 0;
}

/* In the child; returns only when it failed. */
static void become_qemu(pid_t parent, char *const *argv, const int *keep, size_t n)
{
	static char *const environment[] = {NULL};
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* bench itself may be killed */
	if (getppid() != parent)		/* it was, before that */
		return;
	for (size_t i = 0; i < n; i++)
		if (keep[i] >= 0)
			(void)fcntl(keep[i], F_SETFD, 0);
	(void)execve(argv[0], argv, environment);
}

static int fork_qemu(struct bench *b, const struct argv_fds *fds, int *ret_pidfd, struct err *err)
{
	const int keep[] = {fds->qmp, fds->serial, fds->kernel, fds->initrd};
	char **argv = NULL;
	int r = argv_build(b->plan, b->qemu, fds, &argv, err);
	pid_t pid, parent = getpid();

	if (r < 0)
		return r;
	pid = child_fork(ret_pidfd);
	if (pid == 0) {
		become_qemu(parent, argv, keep, ARRAY_SIZE(keep));
		_exit(127);
	}
	args_free(argv);
	return pid < 0 ? err_errno(err, pid, "QEMU alone: fork") : 0;
}

static int follow(struct bare *w, int qmp_consume, struct err *err)
{
	static const struct qmp_handlers handlers = {on_ready, on_event, on_closed};
	int r = qmp_new(w->event, qmp_consume, ANSWER_US, &handlers, w, &w->qmp, err);

	if (r < 0)
		return r;
	(void)sd_event_loop(w->event);
	qmp_free(w->qmp);
	return w->err.code ? err_set(err, w->err.code, "%s", w->err.msg) : 0;
}

static int load(struct bench *b, const char *path, int *ret, struct err *err)
{
	return path ? images_load(&b->here, b->plan->kernel_image, path, ret, err) : 0;
}

static void note(struct bench *b, const struct bare *w)
{
	samples_add(&b->bare, (int64_t)(w->running - w->began));
	samples_add(&b->bare_ready, (int64_t)(w->ready - w->began));
	bench_span(b, TRACK_BARE, "QEMU bare", w->began, w->running);
	bench_span(b, TRACK_BARE, "to QMP's greeting", w->began, w->ready);
	bench_span(b, TRACK_BARE, "cont", w->ready, w->running);
}

int bench_bare(struct bench *b, struct err *err)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_fd_ int kernel = -1, initrd = -1, qmp = -1, qmp_theirs = -1, serial = -1,
			 serial_theirs = -1, pidfd = -1;
	struct argv_fds fds = {0};
	struct bare w = {.b = b};
	int pair[2], r = signals_loop(&event, on_signal, &w, err);

	w.event = event;
	if (r == 0)
		r = load(b, b->plan->kernel_path, &kernel, err);
	if (r == 0)
		r = load(b, b->plan->initrd_path, &initrd, err);
	if (r < 0)
		return r;
	if (sock_pair(SOCK_STREAM, pair) < 0)
		return err_errno(err, -errno, "socket pair");
	qmp = pair[0];
	qmp_theirs = pair[1];
	if (sock_pair(SOCK_STREAM, pair) < 0)
		return err_errno(err, -errno, "socket pair");
	serial = pair[0];
	serial_theirs = pair[1];
	fds.qmp = qmp_theirs;
	fds.serial = b->plan->serial_console ? serial_theirs : -1;
	fds.kernel = kernel;
	fds.initrd = initrd;
	w.began = bench_now();
	r = fork_qemu(b, &fds, &pidfd, err);
	if (r < 0)
		return r;
	qmp_theirs = fd_close(qmp_theirs);
	r = follow(&w, TAKE_FD(qmp), err);
	(void)child_signal(pidfd, SIGKILL);
	child_reap(pidfd);
	if (r == 0)
		note(b, &w);
	return r;
}
