// SPDX-License-Identifier: Apache-2.0
/* Tap devices and the files of their queues. */
#pragma once

#include "lib/err.h"

#include <stdbool.h>
#include <sys/types.h>

#define TAP_QUEUES_MAX 256 /* MAX_TAP_QUEUES, drivers/net/tun.c */

struct tap_spec {
	const char *name;
	unsigned queues; /* 1 to TAP_QUEUES_MAX */
	uid_t owner;	 /* may attach without CAP_NET_ADMIN, as libvirt's QEMU driver does */
	gid_t group;
};

/*
 * Make a persistent tap in the namespace (-1: this one) and open every queue of it: `queues` CLOEXEC
 * fds in ret_fds, the caller's to close. Each is attached with the very flags the tap was made with
 * (IFF_TAP, IFF_NO_PI, IFF_VNET_HDR, and IFF_MULTI_QUEUE if and only if queues > 1): others would be
 * EINVAL. -EBUSY when the name is taken. It goes with its namespace, or by link_delete.
 */
int tap_create(int netns_fd, const struct tap_spec *spec, int *ret_fds, struct err *err);
