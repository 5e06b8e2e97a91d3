// SPDX-License-Identifier: Apache-2.0
#include "lib/capture.h"

#include "lib/child.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void become(const char *const argv[], int output) __attribute__((noreturn));

static void become(const char *const argv[], int output)
{
	static const char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
					  NULL};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	/* what we were given ourselves; a kernel without it (before 5.9) passes that on */
	(void)close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	if (null >= 0 && dup2(null, 0) == 0 && dup2(output, 1) == 1 && dup2(output, 2) == 2)
		execve(argv[0], (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
	_exit(127);
}

static int64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t); /* this clock is always there */
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* To the end of the output: 0 with the text in buf, which has room for max + 1 bytes. */
static int read_all(int fd, int64_t deadline, size_t max, char *buf)
{
	size_t len = 0;

	for (;;) {
		int64_t left = deadline - now_ms();
		struct pollfd p = {.fd = fd, .events = POLLIN};
		ssize_t n;

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(&p, 1, left > INT_MAX ? INT_MAX : (int)left) <= 0)
			continue; /* the clock decides */
		n = read(fd, buf + len, max + 1 - len);
		if (n < 0 && errno != EINTR)
			return -errno;
		len += n > 0 ? (size_t)n : 0;
		if (len > max)
			return -EFBIG;
		if (n == 0) {
			buf[len] = '\0';
			return 0;
		}
	}
}

/* A program that closed its output may live on. */
static int wait_end(int pidfd, int64_t deadline, siginfo_t *ret)
{
	for (;;) {
		int64_t left = deadline - now_ms();
		struct pollfd p = {.fd = pidfd, .events = POLLIN};

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(&p, 1, left > INT_MAX ? INT_MAX : (int)left) > 0 &&
		    waitid((idtype_t)P_PIDFD, (id_t)pidfd, ret, WEXITED) == 0)
			return 0;
	}
}

static int judge(const char *program, const siginfo_t *end, const char *text, struct err *err)
{
	char line[200];

	if (end->si_code == CLD_EXITED && end->si_status == 0)
		return 0;
	(void)snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
	str_printable(line, line, sizeof line);
	return err_set(err, -EIO, "%s: %s %d: %s", program,
		       end->si_code == CLD_EXITED ? "exit status" : "killed by signal",
		       end->si_status, line[0] ? line : "no output");
}

int capture_run(const char *const argv[], unsigned seconds, size_t max, char **ret, struct err *err)
{
	int64_t deadline = now_ms() + (int64_t)seconds * 1000;
	_cleanup_fd_ int pidfd = -1, ours = -1, theirs = -1;
	_cleanup_free_ char *text = xcalloc(max + 1, 1);
	siginfo_t end = {0};
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(err, -errno, "%s: pipe", argv[0]);
	ours = fds[0];
	theirs = fds[1];
	r = child_fork(&pidfd);
	if (r < 0)
		return err_errno(err, r, "%s: fork", argv[0]);
	if (r == 0)
		become(argv, theirs);
	theirs = fd_close(theirs);
	r = read_all(ours, deadline, max, text);
	if (r == 0)
		r = wait_end(pidfd, deadline, &end);
	if (r < 0) {
		(void)child_signal(pidfd, SIGKILL);
		child_reap(pidfd);
		return err_errno(err, r, "%s: its output (at most %zu bytes in %u s)", argv[0], max,
				 seconds);
	}
	r = judge(argv[0], &end, text, err);
	if (r == 0)
		*ret = TAKE_PTR(text);
	return r;
}
