// SPDX-License-Identifier: Apache-2.0
/*
 * The handler started here belongs to the host, not to who happened to call first: a session of its
 * own, / as directory, an environment of two variables, no descriptor of ours, its words in
 * run/handler.log; with --on-demand it leaves the caller's cgroups itself and ends when it has
 * nothing to do. That it serves is heard as READY=1 on a socket made for this one start; since
 * anyone could say so there, only a connection to the real socket counts.
 */
#include "cmd/autostart.h"

#include "cmd/unit.h"

#include "lib/child.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_MS    60000 /* adopting many VMs takes its time; a minute means that it hangs */
#define LOCK_SECS   10	  /* how long a handler that is just ending may hold its lock */
#define LAST_WORDS  512
#define EXIT_NOEXEC 127

int autostart_probe(const struct paths *p)
{
	int fd, r = sock_connect_at(p->run_fd, "handler.sock", SOCK_STREAM, &fd);

	if (r == 0)
		(void)fd_close(fd);
	return r;
}

/*
 * Beside our own executable first, so that a build runs with its own handler; then where `make install`
 * puts it relative to ours, whatever the prefix; then the usual prefixes.
 */
int autostart_find(char buf[static PATH_MAX], struct err *err)
{
	static const struct {
		bool relative; /* to our executable's folder */
		const char *path;
	} places[] = {
		{true, "/virt-handler"},
		{true, "/../libexec/virtpod/virt-handler"},
		{false, "/usr/local/libexec/virtpod/virt-handler"},
		{false, "/usr/libexec/virtpod/virt-handler"},
	};
	char exe[PATH_MAX] = "";
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

	if (n > 0)
		*strrchr(exe, '/') = 0;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		_cleanup_free_ char *path =
			xasprintf("%s%s", places[i].relative ? exe : "", places[i].path);

		if (strlen(path) < PATH_MAX && access(path, X_OK) == 0) {
			(void)strcpy(buf, path);
			return 0;
		}
	}
	return err_set(
		err, -ENOTCONN,
		"there is no virt-handler: neither in virtpod's folder %s, nor at %s%s, %s or "
		"%s",
		exe, exe, places[1].path, places[2].path, places[3].path);
}

/* A datagram socket with an address of the kernel's choice; *ret_env is NOTIFY_SOCKET=@…. */
static int notify_socket(int *ret_fd, char **ret_env)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	socklen_t len = offsetof(struct sockaddr_un, sun_path);
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, len) < 0)
		return -errno;
	len = sizeof sa;
	if (getsockname(fd, (struct sockaddr *)&sa, &len) < 0)
		return -errno;
	*ret_env =
		xasprintf("NOTIFY_SOCKET=@%.*s",
			  (int)(len - offsetof(struct sockaddr_un, sun_path) - 1), sa.sun_path + 1);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* In the child; only async-signal-safe calls. Does not return. */
static void exec_handler(const char *exe, char *const argv[], char *const env[], int log_fd)
{
	sigset_t none;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	if (setsid() < 0 || chdir("/") < 0 || null < 0 || dup2(null, 0) < 0 ||
	    dup2(log_fd, 1) < 0 || dup2(log_fd, 2) < 0 || close_range(3, ~0U, 0) < 0)
		_exit(EXIT_NOEXEC);
	(void)umask(022);
	(void)execve(exe, argv, env);
	_exit(EXIT_NOEXEC);
}

/* The last line of what the log has from `from` on, without its time and whose it is. */
static void last_words(const struct paths *p, off_t from, char ret[static LAST_WORDS + 1])
{
	_cleanup_fd_ int fd = openat(p->run_fd, "handler.log", O_RDONLY | O_CLOEXEC);
	off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	static const char ident[] = "virt-handler: ";
	char text[LAST_WORDS + 1], *line, *own;
	ssize_t n;

	if (end - from > LAST_WORDS)
		from = end - LAST_WORDS;
	n = fd < 0 ? 0 : pread(fd, text, LAST_WORDS, from);
	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n > 0 ? n : 0] = 0;
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	own = strstr(line, ident);
	(void)strcpy(ret, own ? own + strlen(ident) : line);
}

/* How a child ended that left no words. */
static const char *end_of(int pidfd)
{
	siginfo_t info = {0};

	if (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 || info.si_code == CLD_EXITED)
		return "it ended without a word";
	return strsignal(info.si_status);
}

/* Until the socket answers, the child ends, or the time is over. */
static int wait_ready(const struct paths *p, int pidfd, int notify_fd, off_t log_from,
		      struct err *err)
{
	struct pollfd fds[2] = {{pidfd, POLLIN, 0}, {notify_fd, POLLIN, 0}};
	char words[LAST_WORDS + 1], message[64];

	for (;;) {
		int n = poll(fds, 2, READY_MS);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			return err_set(err, -ENOTCONN,
				       "virt-handler was started and is not ready after %d s; see "
				       "%s/handler.log",
				       READY_MS / 1000, p->run);
		if (fds[1].revents)
			(void)recv(notify_fd, message, sizeof message, 0); /* the probe decides */
		if (autostart_probe(p) == 0)
			return 0;
		if (!fds[0].revents)
			continue;
		last_words(p, log_from, words);
		return err_set(err, -ENOTCONN, "virt-handler could not start: %s",
			       words[0] ? words : end_of(pidfd));
	}
}

static int start_own(const struct paths *p, bool own_root, struct err *err)
{
	_cleanup_fd_ int log_fd =
		openat(p->run_fd, "handler.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	_cleanup_free_ char *notify_env = NULL;
	_cleanup_fd_ int notify_fd = -1;
	_cleanup_fd_ int pidfd = -1;
	char exe[PATH_MAX];
	char on_demand[] = "--on-demand", root_opt[] = "--root";
	char path_env[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	char *argv[] = {exe, on_demand, own_root ? root_opt : NULL, p->root, NULL};
	off_t log_from;
	pid_t pid;
	int r;

	if (log_fd < 0)
		return err_errno(err, -errno, "%s/handler.log", p->run);
	log_from = lseek(log_fd, 0, SEEK_END);
	r = autostart_find(exe, err);
	if (r < 0)
		return r;
	r = notify_socket(&notify_fd, &notify_env);
	if (r < 0)
		return err_errno(err, r, "socket for virt-handler's readiness");
	log_debug("starting %s", exe);
	pid = child_fork(&pidfd);
	if (pid < 0)
		return err_errno(err, pid, "fork");
	if (pid == 0) {
		char *env[] = {path_env, notify_env, NULL};

		exec_handler(exe, argv, env, log_fd);
	}
	return wait_ready(p, pidfd, notify_fd, log_from, err);
}

static void on_alarm(int sig)
{
	(void)sig; /* only there to interrupt the wait */
}

static int wait_flock(int fd)
{
	return flock(fd, LOCK_EX) < 0 ? -errno : 0;
}

/* The handler's own lock is one of its process (handler/handler.c). */
static int wait_process_lock(int fd)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fcntl(fd, F_SETLKW, &whole) < 0 ? -errno : 0;
}

/* A lock with an end: a blocking one, interrupted by a timer that fires again in case it came early. */
static int lock_within(int fd, int (*wait)(int fd), unsigned seconds)
{
	const struct sigaction catch = {.sa_handler = on_alarm};
	const struct itimerval on = {.it_value = {.tv_sec = seconds}, .it_interval = {.tv_sec = 1}};
	const struct itimerval off = {0};
	struct sigaction before;
	int r;

	if (sigaction(SIGALRM, &catch, &before) < 0 || setitimer(ITIMER_REAL, &on, NULL) < 0)
		return -errno;
	r = wait(fd);
	(void)setitimer(ITIMER_REAL, &off, NULL);
	(void)sigaction(SIGALRM, &before, NULL);
	return r == -EINTR ? -ETIMEDOUT : r;
}

/*
 * A handler that ends has closed its socket and still holds its lock for a moment; one started now
 * would meet that lock and give up.
 */
static int wait_old_handler(const struct paths *p, struct err *err)
{
	_cleanup_fd_ int fd = openat(p->run_fd, "handler.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : lock_within(fd, wait_process_lock, LOCK_SECS);

	if (r == -ETIMEDOUT)
		return autostart_probe(p) == 0 ? 0
					       : err_set(err, -ENOTCONN,
							 "a virt-handler holds %s/handler.lock and "
							 "does not answer; "
							 "see its log, or end it: its VMs live on",
							 p->run);
	return r < 0 ? err_errno(err, r, "%s/handler.lock", p->run) : 0;
}

int autostart(const struct paths *p, bool own_root, struct err *err)
{
	_cleanup_fd_ int lock = -1;
	int r;

	if (geteuid() != 0)
		return err_set(err, -EACCES,
			       "no virt-handler runs, and only root can start one: use sudo, or "
			       "start virt-handler first");
	if (!own_root && unit_installed())
		return unit_start(err);
	lock = openat(p->run_fd, "start.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (lock < 0)
		return err_errno(err, -errno, "%s/start.lock", p->run);
	r = lock_within(lock, wait_flock, READY_MS / 1000);
	if (r < 0)
		return err_errno(err, r == -ETIMEDOUT ? -ENOTCONN : r,
				 "%s/start.lock: another virtpod starts a handler and does not end",
				 p->run);
	if (autostart_probe(p) == 0)
		return 0; /* that other one has started it */
	r = wait_old_handler(p, err);
	if (r < 0 || autostart_probe(p) == 0)
		return r;
	return start_own(p, own_root, err);
}
