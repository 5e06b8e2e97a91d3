// SPDX-License-Identifier: Apache-2.0
/*
 * PID 1's loop: console lines, power buttons, ended children. A line ends with CR or LF; nothing is
 * echoed. While a command runs in a child the console waits, the power button does not.
 */
#include "lib/util.h"
#include "tests/guest/guest.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { FD_CONSOLE, FD_CHILDREN, FD_BUTTONS, FD_MAX = FD_BUTTONS + BUTTONS_MAX };

struct console {
	char buf[1024];
	size_t len;
	bool overlong; /* the line began beyond buf: skip to its end */
	pid_t busy;    /* child that is answering, or 0 */
};

static struct pollfd fds[FD_MAX];
static nfds_t nfds;

/* Bytes as they come: no echo, no signals, no editing; newlines go out as CR LF. */
static void console_raw(void)
{
	struct termios t;

	if (tcgetattr(STDIN_FILENO, &t) < 0)
		return; /* no serial console: reads will say so */
	t.c_iflag &= (tcflag_t) ~(ICRNL | INLCR | IGNCR | IXON);
	t.c_lflag &= (tcflag_t) ~(ICANON | ECHO | ECHONL | ISIG | IEXTEN);
	t.c_oflag |= OPOST | ONLCR;
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &t); /* worst case: input is echoed */
}

/* Run complete lines until one goes on in a child or none is left. */
static void console_run(struct console *c)
{
	while (!c->busy) {
		size_t n = 0;
		char line[sizeof c->buf];

		while (n < c->len && !strchr("\r\n", c->buf[n]))
			n++;
		if (n == c->len)
			break;
		memcpy(line, c->buf, n);
		line[n] = 0;
		c->len -= n + 1;
		memmove(c->buf, c->buf + n + 1, c->len);
		if (!c->overlong)
			c->busy = shell_run(line);
		else
			printf("error: line longer than %zu bytes\n", sizeof c->buf);
		c->overlong = false;
	}
	if (c->len == sizeof c->buf && !c->busy) {
		c->overlong = true;
		c->len = 0;
	}
}

/* Returns false when the console has ended. */
static bool console_read(struct console *c)
{
	ssize_t n = read(STDIN_FILENO, c->buf + c->len, sizeof c->buf - c->len);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0)
		return false;
	for (char *p = c->buf + c->len, *end = p + n; p < end; p++)
		if (!*p)
			*p = ' '; /* a NUL would cut the line */
	c->len += (size_t)n;
	console_run(c);
	return true;
}

static void children_reap(int fd, struct console *c)
{
	struct signalfd_siginfo si;
	int status;
	pid_t pid;

	(void)!read(fd, &si, sizeof si); /* waitpid knows more than the record */
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != c->busy)
			continue;
		if (WIFSIGNALED(status))
			printf("error: killed by signal %d\n", WTERMSIG(status));
		c->busy = 0;
	}
	console_run(c);
}

static int children_fd(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &set, NULL); /* cannot fail with these arguments */
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void loop_listen(void)
{
	int buttons[BUTTONS_MAX], n = button_open_all(buttons);

	console_raw();
	fds[FD_CHILDREN] = (struct pollfd){children_fd(), POLLIN, 0};
	for (int i = 0; i < n; i++)
		fds[FD_BUTTONS + i] = (struct pollfd){buttons[i], POLLIN, 0};
	nfds = (nfds_t)(FD_BUTTONS + n);
}

void loop_run(void)
{
	struct console console = {0};
	bool alive = true;

	for (;;) {
		(void)fflush(stdout); /* nobody is left to tell when the console is gone */
		fds[FD_CONSOLE] =
			(struct pollfd){alive && !console.busy ? STDIN_FILENO : -1, POLLIN, 0};
		if (poll(fds, nfds, -1) < 0)
			continue;
		for (nfds_t i = FD_BUTTONS; i < nfds; i++)
			if (fds[i].revents && button_pressed(fds[i].fd))
				button_obey();
		if (fds[FD_CHILDREN].revents)
			children_reap(fds[FD_CHILDREN].fd, &console);
		if (fds[FD_CONSOLE].revents)
			alive = console_read(&console);
	}
}
