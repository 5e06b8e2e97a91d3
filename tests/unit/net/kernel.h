// SPDX-License-Identifier: Apache-2.0
/* A kernel that is none: the answer to each request on the socket is one datagram of the test's. */
#pragma once

#include "net/nlsock.h"

#include "lib/util.h"

#include <netlink/handlers.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <stdint.h>
#include <string.h>

static const uint8_t *kernel_data; /* NULL: it was received */
static size_t kernel_len;

static int kernel_send(struct nl_sock *sk, struct nl_msg *msg)
{
	(void)sk;
	(void)msg;
	return 0;
}

/* libnl frees what it is given. */
static int kernel_recv(struct nl_sock *sk, struct sockaddr_nl *from, unsigned char **ret,
		       struct ucred **creds)
{
	(void)sk;
	(void)creds;
	if (!kernel_data || !kernel_len)
		return -NLE_FAILURE;
	*from = (struct sockaddr_nl){.nl_family = AF_NETLINK};
	*ret = xcalloc(1, kernel_len);
	memcpy(*ret, kernel_data, kernel_len);
	kernel_data = NULL;
	return (int)kernel_len;
}

/* The caller's to free. */
static inline struct nl_sock *kernel_open(void)
{
	struct nl_sock *sk = nl_socket_alloc();
	struct nl_cb *cb = nl_socket_get_cb(sk);

	nl_cb_overwrite_send(cb, kernel_send);
	nl_cb_overwrite_recv(cb, kernel_recv);
	nl_cb_put(cb);
	nl_socket_disable_seq_check(sk);
	return sk;
}

/* The next answer; borrowed until it is received. */
static inline void kernel_says(const void *data, size_t len)
{
	kernel_data = data;
	kernel_len = len;
}
