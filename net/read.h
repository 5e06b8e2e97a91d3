// SPDX-License-Identifier: Apache-2.0
/*
 * Links as the kernel reports them, as JSON for `inspect`. One object per link, by ascending ifindex:
 *
 *   name, ifindex, mtu
 *   kind          "bridge", "veth", "tun", "dummy", …; "" for hardware and lo
 *   mac           absent for links without an Ethernet address
 *   up            set up by somebody
 *   operState     "up", "down", "unknown", "lowerlayerdown", "dormant", "testing", "notpresent"
 *   alias         absent when empty
 *   master        name of the bridge it is a port of; absent when none
 *   learning      bridge ports only: does the bridge learn addresses on it
 *   peerIfindex   veth only: the other end's ifindex
 *   peerNetnsid   the other end's namespace, as an id of the namespace read; absent if it is here
 *   addresses     ["10.9.0.254/24", …], link-local ones included
 *   tun           taps only: type ("tap", "tun"), owner and group (absent when unset; as seen from
 *                 the reader's user namespace), multiQueue, queues (that a file holds), vnetHdr,
 *                 packetInfo, persist
 */
#pragma once

#include "lib/err.h"

#include <jansson.h>

/* netns_fd -1: the caller's namespace. *ret is the caller's to release. */
int net_read_links(int netns_fd, json_t **ret, struct err *err);

/*
 * Those links of the caller's namespace whose alias is "virtpod:TAG" or begins with "virtpod:TAG:", and
 * bridges and veths of ours that a crash left unmarked; same objects. What a crash may have left behind.
 */
int net_list_ours(const char *tag, json_t **ret, struct err *err);
