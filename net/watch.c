// SPDX-License-Identifier: Apache-2.0
#include "net/watch.h"

#include "net/netns.h"

#include "lib/util.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

/* Its namespace is the one in which it is made. */
static int open_here(void *arg)
{
	const struct sockaddr_nl sa = {
		.nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR,
	};
	_cleanup_fd_ int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&sa, sizeof sa) < 0)
		return -errno;
	*(int *)arg = TAKE_FD(fd);
	return 0;
}

int net_watch_open(int netns_fd, int *ret_fd, struct err *err)
{
	int fd = -1, r = netns_call(netns_fd, open_here, &fd, err);

	if (r < 0)
		return err_errno(err, r, "watch links");
	*ret_fd = fd;
	return 0;
}

void net_watch_drain(int fd)
{
	char text[1]; /* the rest of each message is thrown away */

	while (recv(fd, text, sizeof text, 0) >= 0 || errno == ENOBUFS || errno == EINTR)
		;
}
