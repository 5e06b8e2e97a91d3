// SPDX-License-Identifier: Apache-2.0
/*
 * The pod's first process before its execve. It runs in a copy of the handler's memory that no fork
 * handler has tidied, so it does nothing but system calls and formatting into its own stack.
 */
#include "sandbox/child.h"

#include "lib/sock.h"
#include "lib/stop.h"
#include "lib/util.h"
#include "sandbox/caps.h"
#include "sandbox/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

void spawn_report_failure(int sock, const struct err *err)
{
	struct spawn_report report = {.kind = SPAWN_FAILED, .err = *err};

	(void)sock_send(sock, &report, sizeof report, NULL, 0); /* nobody else to tell */
}

static int wait_for_go(struct child_io *io, struct err *err)
{
	char byte;
	ssize_t n;

	io->go_write = fd_close(io->go_write); /* else the agent's end would not be the last */
	do
		n = read(io->go_read, &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : err_set(err, -ECANCELED, "sandbox: the spawning process gave up");
}

/*
 * The root of a cgroup namespace is the group of whoever makes it. clone3 would take the agent's,
 * which with CLONE_INTO_CGROUP is not the pod's; so the child makes it, standing in the right group.
 */
static int own_cgroup_view(const struct sandbox_layers *layers, struct err *err)
{
	if (layers->cgroup && unshare(CLONE_NEWCGROUP) < 0)
		return err_errno(err, -errno, "sandbox: making a cgroup namespace");
	return 0;
}

/* Groups are empty already: the agent dropped them before the clone. */
static int take_ids(const struct sandbox_spawn *s, struct err *err)
{
	uid_t uid = s->layers.user ? SANDBOX_INNER_ID : s->uid;
	gid_t gid = s->layers.user ? SANDBOX_INNER_ID : s->gid;

	if (prctl(PR_SET_KEEPCAPS, 1) < 0)
		return err_errno(err, -errno, "sandbox: keeping capabilities over ids");
	if (setresgid(gid, gid, gid) < 0)
		return err_errno(err, -errno, "sandbox: taking group id %u", gid);
	if (setresuid(uid, uid, uid) < 0)
		return err_errno(err, -errno, "sandbox: taking user id %u", uid);
	return 0;
}

/*
 * Every CPU, which the kernel cuts to the group's cpuset. The caller may keep to fewer, and before Linux
 * 6.3 a process that is born in a group of another cpuset has its parent's.
 */
static int whole_cpuset(struct err *err)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof all);
	return sched_setaffinity(0, sizeof all, &all) < 0
		       ? err_errno(err, -errno, "sandbox: affinity of the pod's first process")
		       : 0;
}

static int fresh_process_state(struct err *err)
{
	struct sigaction dfl = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int sig = 1; sig < _NSIG; sig++)
		(void)sigaction(sig, &dfl, NULL); /* fails for KILL, STOP and glibc's own two */
	(void)sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		return err_errno(err, -errno, "sandbox: unblocking signals");
	/* the VM outlives its handler; and no terminal of the caller's is its own */
	if (prctl(PR_SET_PDEATHSIG, 0) < 0 || setsid() < 0)
		return err_errno(err, -errno, "sandbox: starting a session");
	(void)umask(022);
	return chdir("/") < 0 ? err_errno(err, -errno, "sandbox: chdir /") : 0;
}

static int lift(int fd, int base, const char *what, int *ret, struct err *err)
{
	*ret = fcntl(fd, F_DUPFD_CLOEXEC, base);
	return *ret < 0 ? err_errno(err, -errno, "sandbox: duplicating the %s descriptor", what)
			: 0;
}

/*
 * Lift everything above the numbers to be filled, then fill them; what lies above is marked
 * close-on-exec as a whole, so that it goes at the execve and not before it.
 */
static int arrange_fds(const struct sandbox_spawn *s, struct child_io *io, int *ret_exec,
		       struct err *err)
{
	unsigned first_free = 3 + s->n_fds;
	int from[3 + SANDBOX_SPAWN_MAX_FDS];
	int r = lift(io->report, (int)first_free, "report", &io->report, err);

	if (!r)
		r = lift(s->exec_fd, (int)first_free, "executable's", ret_exec, err);
	for (unsigned i = 0; !r && i < first_free; i++) {
		int fd = i == 0 ? io->null : i < 3 ? s->stderr_fd : s->fds[i - 3];

		r = lift(fd, (int)first_free, "passed", &from[i], err);
	}
	if (r < 0)
		return r;
	for (unsigned i = 0; i < first_free; i++)
		if (dup2(from[i], (int)i) < 0)
			return err_errno(err, -errno, "sandbox: placing descriptor %u", i);
	if (close_range(first_free, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		return err_errno(err, -errno, "sandbox: closing inherited descriptors");
	return 0;
}

void child_run(const struct sandbox_spawn *s, struct child_io *io)
{
	static char lang[] = "LANG=C.UTF-8";
	char *const env[] = {lang, stop_environment(), NULL};
	struct err err = {0};
	int exec_fd = -1;
	int r = wait_for_go(io, &err);

	if (!r)
		r = own_cgroup_view(&s->layers, &err);
	if (!r)
		r = whole_cpuset(&err);
	if (!r)
		r = take_ids(s, &err);
	if (!r)
		r = caps_keep_to_enter(&err);
	if (!r)
		r = fresh_process_state(&err);
	if (!r)
		r = arrange_fds(s, io, &exec_fd, &err);
	if (!r) {
		r = sys_exec_fd(exec_fd, s->argv, env);
		(void)err_errno(&err, r, "sandbox: executing the launcher");
	}
	spawn_report_failure(io->report, &err);
	_exit(1);
}
