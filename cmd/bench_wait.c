// SPDX-License-Identifier: Apache-2.0
/*
 * What a measurement waits for, with a limit, and until the user asks to end. Signals are blocked, and stay
 * pending for bench_stopped.
 */
#include "cmd/bench.h"

#include "lib/child.h"
#include "lib/util.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

static int signals_fd(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

int bench_ready(struct bench *b, int fd, int ms, const char *what, struct err *err)
{
	_cleanup_fd_ int signals = signals_fd();
	struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
	int r;

	do
		r = poll(p, ARRAY_SIZE(p), ms);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return err_errno(err, -errno, "%s", what);
	if (p[0].revents)
		return 0;
	if (bench_stopped(b))
		return err_set(err, -ECANCELED, "%s: interrupted", what);
	return err_set(err, -ETIMEDOUT, "%s: nothing in %d s", what, ms / 1000);
}

int bench_wait(struct bench *b, int pidfd, int ms, const char *what, siginfo_t *ret,
	       struct err *err)
{
	int r = bench_ready(b, pidfd, ms, what, err);

	if (r < 0) {
		(void)child_signal(pidfd, SIGKILL);
		child_reap(pidfd);
		return r;
	}
	*ret = (siginfo_t){0};
	return waitid((idtype_t)P_PIDFD, (id_t)pidfd, ret, WEXITED) < 0
		       ? err_errno(err, -errno, "%s", what)
		       : 0;
}
