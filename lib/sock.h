// SPDX-License-Identifier: Apache-2.0
/*
 * Unix sockets: bounded frames with descriptors over SOCK_SEQPACKET, and listening or connecting
 * below a directory fd, so that a deep root directory does not meet the 108 bytes of sun_path.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define SOCK_MAX_FDS 253 /* the kernel's SCM_MAX_FD */

/* Both ends close-on-exec and, for SOCK_SEQPACKET, of blocking mode. type: SOCK_STREAM/SEQPACKET. */
int sock_pair(int type, int ret[2]);

/* A listening socket `name` below dirfd, mode 0600; a dead socket file of that name is replaced. */
int sock_listen_at(int dirfd, const char *name, int type, int *ret);
int sock_connect_at(int dirfd, const char *name, int type, int *ret);

/* One frame, fds borrowed. -EAGAIN on a full non-blocking socket, -EPIPE when the peer is gone. */
int sock_send(int fd, const void *data, size_t len, const int *fds, size_t n_fds);

/*
 * One frame into buf. Returns its length; 0 when the peer has closed; -EMSGSIZE for a frame longer
 * than `size` or with more than max_fds descriptors (everything received is closed);
 * -EAGAIN on an empty non-blocking socket. The descriptors are the caller's, close-on-exec.
 */
ssize_t sock_recv(int fd, void *buf, size_t size, int *ret_fds, size_t max_fds, size_t *ret_n_fds);

struct sock_peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};
int sock_peer(int fd, struct sock_peer *ret); /* SO_PEERCRED */
