// SPDX-License-Identifier: Apache-2.0
/*
 * A netlink socket, a tun file and /proc/sys/net belong to the namespace in which they were opened,
 * so visits are short: open it there, use it from home. No child is needed for that.
 */
#include "net/netns.h"

#include "lib/log.h"
#include "lib/util.h"
#include "net/link.h"
#include "net/linkinfo.h"
#include "net/nlsock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

static int open_home(int *ret_fd, struct err *err)
{
	int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(err, -errno, "open /proc/self/ns/net");
	*ret_fd = fd;
	return 0;
}

static void go_home(int home_fd)
{
	if (setns(home_fd, CLONE_NEWNET) == 0)
		return;
	log_error("can't return to the own network namespace: %s", strerror(errno));
	abort();
}

int netns_call(int netns_fd, int (*fn)(void *arg), void *arg, struct err *err)
{
	_cleanup_fd_ int home = -1;
	int r;

	if (netns_fd < 0)
		return fn(arg);
	r = open_home(&home, err);
	if (r < 0)
		return r;
	if (setns(netns_fd, CLONE_NEWNET) < 0)
		return err_errno(err, -errno, "enter the pod's network namespace");
	r = fn(arg);
	go_home(home);
	return r;
}

/* mount and umount2 take no dirfd; "name" stays the last component, so that it isn't followed */
static char *path_below(int dirfd, const char *name)
{
	return xasprintf("/proc/self/fd/%d/%s", dirfd, name);
}

static int check_name(const char *name, struct err *err)
{
	if (*name && !strchr(name, '/') && !str_eq(name, ".") && !str_eq(name, ".."))
		return 0;
	return err_set(err, -EINVAL, "network namespace '%s': must be a file name without a slash",
		       name);
}

static int unshare_onto(const char *path, struct err *err)
{
	_cleanup_fd_ int home = -1;
	int r = open_home(&home, err);

	if (r < 0)
		return r;
	if (unshare(CLONE_NEWNET) < 0)
		return err_errno(err, -errno, "make a network namespace");
	if (mount("/proc/self/ns/net", path, NULL, MS_BIND, NULL) < 0)
		r = -errno;
	go_home(home);
	return r < 0 ? err_errno(err, r, "pin a network namespace on '%s'", path) : 0;
}

static int lo_up(int netns_fd, struct err *err)
{
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	struct linkinfo lo = {0};
	int r = nlsock_open(netns_fd, &sk, err);

	if (r == 0)
		r = linkinfo_get(sk, "lo", &lo, err);
	return r < 0 ? r : link_set_up(sk, &lo, err);
}

int netns_create(int dirfd, const char *name, int *ret_fd, struct err *err)
{
	_cleanup_free_ char *path = path_below(dirfd, name);
	_cleanup_fd_ int file = -1, fd = -1;
	int r = check_name(name, err);

	if (r < 0)
		return r;
	file = openat(dirfd, name, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	if (file < 0)
		return err_errno(err, -errno, "network namespace '%s': create its file", name);
	r = unshare_onto(path, err);
	if (r == 0)
		r = netns_open(dirfd, name, &fd, err);
	if (r == 0)
		r = lo_up(fd, err);
	if (r < 0) {
		(void)netns_destroy(dirfd, name, NULL); /* the first error is the one to report */
		return r;
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int netns_open(int dirfd, const char *name, int *ret_fd, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	struct statfs fs;
	int r = check_name(name, err);

	if (r < 0)
		return r;
	fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "network namespace '%s'", name);
	if (fstatfs(fd, &fs) < 0)
		return err_errno(err, -errno, "network namespace '%s': fstatfs", name);
	if (fs.f_type != NSFS_MAGIC || ioctl(fd, NS_GET_NSTYPE) != CLONE_NEWNET)
		return err_set(err, -ESTALE,
			       "network namespace '%s': the file pins none; it is a leftover to "
			       "destroy",
			       name);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int netns_destroy(int dirfd, const char *name, struct err *err)
{
	_cleanup_free_ char *path = path_below(dirfd, name);
	int r = check_name(name, err);

	if (r < 0)
		return r;
	/* detached, so that a process inside can't hold the file; stacked mounts all go */
	while (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
		;
	if (errno != EINVAL && errno != ENOENT) /* EINVAL: nothing is mounted there */
		return err_errno(err, -errno, "network namespace '%s': unmount", name);
	if (unlinkat(dirfd, name, 0) < 0 && errno != ENOENT)
		return err_errno(err, -errno, "network namespace '%s': unlink", name);
	return 0;
}
