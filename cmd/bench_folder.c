// SPDX-License-Identifier: Apache-2.0
#include "cmd/bench_folder.h"

#include "cmd/cleanup.h"

#include "lib/child.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX	   "virtpod-bench."
#define HANDLER_MS 30000 /* a handler that was asked to end: a loop's round; more under load */

int bench_folder_make(const char *parent, char **ret_path, int *ret_lock, struct err *err)
{
	_cleanup_free_ char *path = xasprintf("%s/" PREFIX "XXXXXX", parent);
	_cleanup_fd_ int fd = -1;
	struct stat st;

	if (!mkdtemp(path))
		return err_errno(err, -errno, "%s", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fchmod(fd, 0755) < 0)
		return err_errno(err, -errno, "%s", path);
	/* before it was locked another bench may have taken it for a dead one's */
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &st) < 0 || !st.st_nlink)
		return err_set(err, -EBUSY, "%s: another bench begins: do it again", path);
	*ret_path = TAKE_PTR(path);
	*ret_lock = TAKE_FD(fd);
	return 0;
}

/* Anybody may make folders in /var/tmp; below root's own no one else can put anything. */
static int open_dead(int parent, const char *name)
{
	_cleanup_fd_ int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) ||
	    flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -1;
	return TAKE_FD(fd);
}

/* Its pid is that of the lock's holder (handler/handler.c); 0: there is none. */
static pid_t holder(int lock)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fcntl(lock, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK ? whole.l_pid : 0;
}

/* The root's handler goes first: it would start again what is ended, and cleanup is refused beside it. */
static void end_handler(int root)
{
	_cleanup_fd_ int lock = openat(root, "run/handler.lock", O_RDWR | O_CLOEXEC), pidfd = -1;
	pid_t pid = lock < 0 ? 0 : holder(lock);
	struct pollfd ended;

	pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
	if (pidfd < 0 || holder(lock) != pid) /* so it is certainly this one */
		return;
	(void)child_signal(pidfd, SIGTERM);
	ended = (struct pollfd){.fd = pidfd, .events = POLLIN};
	if (poll(&ended, 1, HANDLER_MS) == 0) {
		(void)child_signal(pidfd, SIGKILL);
		(void)poll(&ended, 1, -1);
	}
}

/* What of a container a killed crun left is outside of the folder; the state that it knows is inside. */
static void end_container(const char *path)
{
	_cleanup_free_ char *state = xasprintf("%s/lib/crun/state", path);
	char crun[] = "crun", root[] = "--root", delete[] = "delete", force[] = "--force",
	     name[] = "virtpod-bench";
	char *argv[] = {crun, root, state, delete, force, name, NULL};
	_cleanup_free_ char *container = xasprintf("%s/%s", state, name);
	_cleanup_fd_ int pidfd = -1;
	pid_t pid;

	if (access(container, F_OK) < 0)
		return;
	pid = child_fork(&pidfd);
	if (pid == 0) {
		(void)execvp(crun, argv);
		_exit(127);
	}
	if (pid > 0)
		child_reap(pidfd);
}

static void sweep_one(int parent, const char *name, const char *path, bool verbose)
{
	struct cli cli = {.root = path, .verbose = verbose};
	_cleanup_fd_ int fd = open_dead(parent, name);
	struct err err = {0};
	int r;

	if (fd < 0)
		return;
	log_info("%s: removing what a killed bench left", path);
	end_handler(fd);
	end_container(path);
	r = cleanup_root(&cli, /* force= */ true, &err);
	if (r == 0 && rm_rf_at(parent, name) == 0)
		return;
	log_warning("%s: can't be removed: %s; the next bench tries again", path,
		    r < 0 ? err.msg : "see above");
}

void bench_folder_sweep(const char *parent, bool verbose)
{
	int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_dir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	while (dir && (de = readdir(dir))) {
		_cleanup_free_ char *path = xasprintf("%s/%s", parent, de->d_name);

		if (str_after(de->d_name, PREFIX))
			sweep_one(dirfd(dir), de->d_name, path, verbose);
	}
}
