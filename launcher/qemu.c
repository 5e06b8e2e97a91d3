// SPDX-License-Identifier: Apache-2.0
#include "launcher/qemu.h"

#include "lib/child.h"
#include "lib/stop.h"
#include "lib/util.h"
#include "sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#define EXEC_TIMEOUT_MS 30000 /* a binary on storage that does not answer */

static int inherit(const int *keep, size_t n, struct err *err)
{
	/* everything is close-on-exec at birth; this holds even where a library forgot it */
	if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		return err_errno(err, -errno, "close_range");
	for (size_t i = 0; i < n; i++)
		if (keep[i] >= 0 && fcntl(keep[i], F_SETFD, 0) < 0)
			return err_errno(err, -errno, "descriptor %d", keep[i]);
	return 0;
}

/* The child's part. Irreversible from its first line; returns only to report a failure. */
static void become_qemu(char *const *argv, const int *keep, size_t n_keep,
			enum sandbox_seccomp seccomp, int output, pid_t parent, struct err *err)
{
	static char *const environment[] = {NULL};
	sigset_t none;

	(void)sigemptyset(&none);
	(void)signal(SIGPIPE, SIG_DFL); /* the launcher ignores it, and that would be inherited */
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	/* where the launcher is no PID 1, its death must not leave a guest without an owner */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) {
		(void)err_errno(err, -errno, "PR_SET_PDEATHSIG");
		return;
	}
	if (getppid() != parent)
		_exit(1);
	stop_at("qemu-exec");
	if (dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0) {
		(void)err_errno(err, -errno, "standard output");
		return;
	}
	if (inherit(keep, n_keep, err) < 0)
		return;
	if (seccomp_load_qemu(seccomp, err) < 0)
		return;
	(void)execve(argv[0], argv, environment);
	(void)err_errno(err, -errno, "execute '%s'", argv[0]);
}

/* execve closes the pipe: end of file is success, a struct err is not. */
static int wait_for_exec(int fd, struct err *err)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct err got = {0};
	ssize_t n;
	int r;

	do
		r = poll(&p, 1, EXEC_TIMEOUT_MS);
	while (r < 0 && errno == EINTR);
	if (r <= 0)
		return err_set(err, -ETIMEDOUT, "QEMU: not executed after %d s",
			       EXEC_TIMEOUT_MS / 1000);
	n = read(fd, &got, sizeof got); /* below PIPE_BUF: whole or nothing */
	if (n == 0)
		return 0;
	if (n != (ssize_t)sizeof got || got.code >= 0)
		return err_set(err, -EIO, "QEMU: the child ended before execve");
	got.msg[sizeof got.msg - 1] = 0;
	return err_set(err, got.code, "QEMU: %s", got.msg);
}

int qemu_start(char *const *argv, const int *keep, size_t n_keep, enum sandbox_seccomp seccomp,
	       struct qemu_child *ret, struct err *err)
{
	_cleanup_fd_ int out_r = -1, out_w = -1, exec_r = -1, exec_w = -1, pidfd = -1;
	pid_t parent = getpid(), pid;
	int p[2], r;

	if (pipe2(p, O_CLOEXEC) < 0)
		return err_errno(err, -errno, "QEMU: pipe");
	out_r = p[0];
	out_w = p[1];
	if (pipe2(p, O_CLOEXEC) < 0)
		return err_errno(err, -errno, "QEMU: pipe");
	exec_r = p[0];
	exec_w = p[1];
	if (fcntl(out_r, F_SETFL, O_NONBLOCK) < 0)
		return err_errno(err, -errno, "QEMU: pipe");
	pid = child_fork(&pidfd);
	if (pid < 0)
		return err_errno(err, (int)pid, "QEMU: fork");
	if (pid == 0) {
		struct err failed = {0};

		become_qemu(argv, keep, n_keep, seccomp, out_w, parent, &failed);
		(void)!write(exec_w, &failed, sizeof failed); /* nobody else to tell */
		_exit(1);
	}
	exec_w = fd_close(exec_w);
	r = wait_for_exec(exec_r, err);
	if (r < 0) {
		(void)child_signal(pidfd, SIGKILL);
		child_reap(pidfd);
		return r;
	}
	*ret = (struct qemu_child){.pid = pid, .pidfd = TAKE_FD(pidfd), .output = TAKE_FD(out_r)};
	return 0;
}

void qemu_done(struct qemu_child *q)
{
	q->pid = 0;
	q->pidfd = fd_close(q->pidfd);
	q->output = fd_close(q->output);
}
