// SPDX-License-Identifier: Apache-2.0
/* What the kernel says about a link, from RTM_GETLINK. Nothing here changes anything. */
#pragma once

#include "lib/err.h"

#include <linux/if.h>
#include <netlink/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_ALIAS_MAX 256 /* IFALIASZ */
#define LINK_KIND_MAX  16  /* longest kind in use is well below; a longer one is cut */

struct linkinfo_tun {
	bool is_tap, multi_queue, vnet_hdr, packet_info, persist;
	int64_t owner, group; /* -1: not set */
	unsigned queues;      /* queues that a file holds; a single-queue tun doesn't tell: 1 */
};

struct linkinfo {
	int ifindex;
	char name[IFNAMSIZ];
	char kind[LINK_KIND_MAX]; /* "bridge", "veth", "tun", …; "" for hardware and lo */
	char alias[LINK_ALIAS_MAX];
	bool has_mac;
	uint8_t mac[6];
	unsigned mtu;
	unsigned flags;	  /* IFF_… */
	uint8_t oper;	  /* IF_OPER_… */
	int master;	  /* ifindex; 0: none */
	int peer;	  /* a veth's other end, a stacked link's lower one; 0: none */
	int peer_netnsid; /* -1: this namespace, or none */
	int learning;	  /* bridge port: 0 or 1; -1: no bridge port */
	bool has_tun;
	struct linkinfo_tun tun;
};

/* 1 and *ret when the link exists, 0 when it doesn't, else negative. */
int linkinfo_find(struct nl_sock *sk, const char *name, struct linkinfo *ret, struct err *err);

/* As linkinfo_find, but an absent link is -ENODEV. */
int linkinfo_get(struct nl_sock *sk, const char *name, struct linkinfo *ret, struct err *err);

/* Every link in the socket's namespace by ascending ifindex; *ret is the caller's to free. */
int linkinfo_list(struct nl_sock *sk, struct linkinfo **ret, size_t *ret_n, struct err *err);
