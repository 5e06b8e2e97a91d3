// SPDX-License-Identifier: Apache-2.0
/* Kernel settings below /proc/sys/net, which are those of the namespace one is in. */
#pragma once

#include "lib/err.h"

/* key: "ipv4/conf/all/arp_ignore". Written and read back in the namespace (-1: this one). */
int sysctl_set(int netns_fd, const char *key, int value, struct err *err);
int sysctl_get(int netns_fd, const char *key, int *ret, struct err *err);

/* As sysctl_set with "ipv6/conf/LINK/KEY"; done when the kernel has no IPv6 at all. */
int sysctl_set_ipv6(int netns_fd, const char *link, const char *key, int value, struct err *err);
