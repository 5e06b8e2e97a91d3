// SPDX-License-Identifier: Apache-2.0
#include "lib/sock.h"

#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

int sock_pair(int type, int ret[2])
{
	return socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ret) < 0 ? -errno : 0;
}

/* The address of `name` below dirfd through /proc, whatever the length of the directory's own path. */
static int address_at(int dirfd, const char *name, struct sockaddr_un *ret)
{
	int n;

	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	n = snprintf(ret->sun_path, sizeof ret->sun_path, "/proc/self/fd/%d/%s", dirfd, name);
	return n < 0 || (size_t)n >= sizeof ret->sun_path ? -ENAMETOOLONG : 0;
}

int sock_connect_at(int dirfd, const char *name, int type, int *ret)
{
	_cleanup_fd_ int fd = -1;
	struct sockaddr_un sa;
	int r = address_at(dirfd, name, &sa);

	if (r < 0)
		return r;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof sa) < 0)
		return -errno;
	*ret = TAKE_FD(fd);
	return 0;
}

int sock_listen_at(int dirfd, const char *name, int type, int *ret)
{
	_cleanup_fd_ int fd = -1;
	struct sockaddr_un sa;
	struct stat st;
	mode_t mask;
	int r = address_at(dirfd, name, &sa);

	if (r < 0)
		return r;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (!S_ISSOCK(st.st_mode))
			return -EEXIST;
		if (unlinkat(dirfd, name, 0) < 0)
			return -errno;
	}
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	mask = umask(0177);
	r = bind(fd, (struct sockaddr *)&sa, sizeof sa) < 0 ? -errno : 0;
	(void)umask(mask);
	if (r < 0)
		return r;
	/* who connects without blocking, as libcurl does, is turned away where the queue is full */
	if (listen(fd, SOMAXCONN) < 0)
		return -errno;
	*ret = TAKE_FD(fd);
	return 0;
}

int sock_send(int fd, const void *data, size_t len, const int *fds, size_t n_fds)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * SOCK_MAX_FDS)];
	} control = {0};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	if (n_fds > SOCK_MAX_FDS)
		return -EMSGSIZE;
	if (n_fds) {
		struct cmsghdr *c;

		msg.msg_control = control.buf;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
	}
	do
		n = sendmsg(fd, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static size_t take_fds(struct msghdr *msg, int fds[static SOCK_MAX_FDS * 2])
{
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t len;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		len = c->cmsg_len - CMSG_LEN(0);
		memcpy(fds + n, CMSG_DATA(c), len);
		n += len / sizeof(int);
	}
	return n;
}

ssize_t sock_recv(int fd, void *buf, size_t size, int *ret_fds, size_t max_fds, size_t *ret_n_fds)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * SOCK_MAX_FDS * 2)];
	} control;
	int fds[SOCK_MAX_FDS * 2];
	struct iovec iov = {.iov_base = buf, .iov_len = size};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.buf,
			     .msg_controllen = sizeof control.buf};
	size_t n_fds;
	ssize_t n;

	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	n_fds = take_fds(&msg, fds);
	if ((msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || n_fds > max_fds) {
		for (size_t i = 0; i < n_fds; i++)
			(void)fd_close(fds[i]);
		return -EMSGSIZE;
	}
	if (n_fds)
		memcpy(ret_fds, fds, n_fds * sizeof(int));
	*ret_n_fds = n_fds;
	return n;
}

int sock_peer(int fd, struct sock_peer *ret)
{
	struct ucred cred;
	socklen_t len = sizeof cred;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return -errno;
	*ret = (struct sock_peer){.pid = cred.pid, .uid = cred.uid, .gid = cred.gid};
	return 0;
}
