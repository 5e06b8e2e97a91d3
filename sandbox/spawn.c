// SPDX-License-Identifier: Apache-2.0
/*
 * Three processes take part in a spawn:
 *
 *   caller   forks the agent, reads reports until every writer is gone, reaps the agent.
 *   agent    joins what must be joined from outside (netns, v1 groups), for the caller itself must
 *            stay where it is; clones the child as its sibling; reports pid and pidfd; writes the id
 *            maps; lets the child go; ends.
 *   child    the pod's first process (child.c): waits for its maps, sheds what it inherited, executes.
 *
 * Agent and child write to the same close-on-exec socket, so its end without a failure report means
 * that the agent did everything and that the child has executed.
 */
#include "sandbox/spawn.h"

#include "lib/file.h"
#include "lib/sock.h"
#include "lib/util.h"
#include "sandbox/child.h"
#include "sandbox/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_PIDFD ((idtype_t)3) /* P_PIDFD, which glibc has since 2.36 */

/* clone3's flags; the cgroup namespace is the child's to make (child.c), the netns is joined. */
static uint64_t clone_flags(const struct sandbox_layers *l)
{
	return (l->user ? CLONE_NEWUSER : 0u) | (l->pid ? CLONE_NEWPID : 0u) |
	       (l->mount ? CLONE_NEWNS : 0u) | (l->ipc ? CLONE_NEWIPC : 0u) |
	       (l->uts ? CLONE_NEWUTS : 0u);
}

static int map_write(int proc, const char *file, unsigned id, struct err *err)
{
	char text[64];
	int r;

	(void)snprintf(text, sizeof text, "%d %u 1", SANDBOX_INNER_ID, id);
	r = file_write_at(proc, file, text);
	return r < 0 ? err_errno(err, r, "sandbox: writing '%s' to the pod's %s", text, file) : 0;
}

/* One id each; setgroups is denied for good, since the child was cloned with no groups at all. */
static int maps_write(pid_t child, uid_t uid, gid_t gid, struct err *err)
{
	_cleanup_fd_ int proc = -1;
	char path[32];
	int r;

	(void)snprintf(path, sizeof path, "/proc/%d", child);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return err_errno(err, -errno, "sandbox: opening %s", path);
	r = map_write(proc, "uid_map", uid, err);
	if (r < 0)
		return r;
	r = file_write_at(proc, "setgroups", "deny");
	if (r < 0)
		return err_errno(err, r, "sandbox: denying setgroups in the pod");
	return map_write(proc, "gid_map", gid, err);
}

static int agent_join(const struct sandbox_spawn *s, struct err *err)
{
	if (setgroups(0, NULL) < 0)
		return err_errno(err, -errno, "sandbox: dropping groups");
	if (s->layers.net && setns(s->netns_fd, CLONE_NEWNET) < 0)
		return err_errno(err, -errno, "sandbox: joining the pod's network namespace");
	if (s->join) {
		int r = s->join(s->join_arg, err);

		return r < 0 ? err_set(err, r, "sandbox: joining the pod's groups failed") : 0;
	}
	return 0;
}

static int agent_clone(const struct sandbox_spawn *s, struct child_io *io, struct err *err)
{
	struct spawn_report started = {.kind = SPAWN_STARTED};
	_cleanup_fd_ int pidfd = -1;
	int r;

	started.pid = sys_clone_sibling(clone_flags(&s->layers), s->cgroup_fd, &pidfd);
	if (started.pid < 0)
		return err_errno(err, started.pid,
				 started.pid == -EPERM && s->layers.user
					 ? "sandbox: cloning the pod's first process (no user "
					   "namespaces here: in a chroot the kernel makes none)"
				 : started.pid == -ENOSPC || started.pid == -EUSERS
					 ? "sandbox: cloning the pod's first process (see "
					   "/proc/sys/user/max_*_namespaces)"
					 : "sandbox: cloning the pod's first process");
	if (started.pid == 0) {
		pidfd = -1; /* the number is the parent's */
		child_run(s, io);
	}
	r = sock_send(io->report, &started, sizeof started, &pidfd, 1);
	if (r < 0)
		return err_errno(err, r, "sandbox: reporting the pod's first process");
	if (s->layers.user)
		r = maps_write(started.pid, s->uid, s->gid, err);
	if (r < 0)
		return r;
	r = fd_write_all(io->go_write, "", 1);
	return r < 0 ? err_errno(err, r, "sandbox: letting the pod's first process go") : 0;
}

static void __attribute__((noreturn)) agent_run(const struct sandbox_spawn *s, int report)
{
	struct child_io io = {.report = report, .go_read = -1, .go_write = -1, .null = -1};
	struct err err = {0};
	int go[2], r;

	io.null = open("/dev/null", O_RDWR | O_CLOEXEC);
	r = io.null < 0 ? err_errno(&err, -errno, "sandbox: opening /dev/null") : 0;
	if (!r && pipe2(go, O_CLOEXEC) < 0)
		r = err_errno(&err, -errno, "sandbox: making a pipe");
	if (!r) {
		io.go_read = go[0];
		io.go_write = go[1];
		r = agent_join(s, &err);
	}
	if (!r)
		r = agent_clone(s, &io, &err);
	if (r < 0)
		spawn_report_failure(report, &err);
	_exit(r < 0);
}

/* Fork the agent with all signals blocked: none of the caller's handlers may run in it. */
static pid_t agent_fork(const struct sandbox_spawn *s, const int report[2])
{
	sigset_t all, old;
	pid_t pid;
	int r;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &old);
	pid = fork();
	r = -errno;
	if (pid == 0) {
		(void)fd_close(report[0]);
		agent_run(s, report[1]);
	}
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	return pid < 0 ? r : pid;
}

/* Read reports until both writers are gone or one has failed. */
static int reports_read(int sock, pid_t *pid, int *pidfd, struct err *err)
{
	struct spawn_report report;
	size_t n_fds;
	ssize_t n;

	while ((n = sock_recv(sock, &report, sizeof report, pidfd, *pidfd < 0, &n_fds)) > 0) {
		if (report.kind == SPAWN_STARTED) {
			*pid = report.pid;
			continue;
		}
		return err_set(err, report.err.code, "%s", report.err.msg);
	}
	if (n < 0)
		return err_errno(err, (int)n, "sandbox: waiting for the pod's first process");
	if (*pidfd < 0)
		return err_set(err, -ECHILD, "sandbox: the spawning process was killed");
	return 0;
}

static void reap(idtype_t type, id_t id)
{
	siginfo_t info;

	while (waitid(type, id, &info, WEXITED) < 0 && errno == EINTR)
		;
}

static int spawn_check(const struct sandbox_spawn *s, struct err *err)
{
	if (s->uid == 0 || s->gid == 0)
		return err_set(err, -EINVAL, "sandbox: a pod's host ids must not be 0");
	if (s->layers.net && s->netns_fd < 0)
		return err_set(err, -EINVAL, "sandbox: layer net wants a network namespace");
	if (s->n_fds > SANDBOX_SPAWN_MAX_FDS)
		return err_set(err, -EINVAL, "sandbox: %u descriptors to pass, at most %d",
			       s->n_fds, SANDBOX_SPAWN_MAX_FDS);
	return 0;
}

int sandbox_spawn(const struct sandbox_spawn *s, pid_t *ret_pid, int *ret_pidfd, struct err *err)
{
	_cleanup_fd_ int ours = -1, pidfd = -1;
	pid_t agent, pid = -1;
	int report[2];
	int r = spawn_check(s, err);

	if (r < 0)
		return r;
	r = sock_pair(SOCK_SEQPACKET, report);
	if (r < 0)
		return err_errno(err, r, "sandbox: making a socket pair");
	agent = agent_fork(s, report);
	ours = report[0];
	(void)fd_close(report[1]);
	if (agent < 0)
		return err_errno(err, agent, "sandbox: forking");
	r = reports_read(ours, &pid, &pidfd, err);
	reap(P_PID, (id_t)agent);
	if (r < 0) {
		if (pidfd >= 0) {
			(void)sys_pidfd_kill(pidfd); /* it may have ended by itself */
			reap(WAIT_PIDFD, (id_t)pidfd);
		}
		return r;
	}
	*ret_pid = pid;
	*ret_pidfd = TAKE_FD(pidfd);
	return 0;
}
