// SPDX-License-Identifier: Apache-2.0
/* A network's bridge in the host: where the pods' veth ends meet. In the caller's namespace. */
#pragma once

#include "lib/err.h"
#include "net/linkinfo.h"

struct net_bridge_spec {
	const char *name; /* at most 15 characters */
	const char *tag;  /* whose it is: its alias becomes "virtpod:TAG" */
	unsigned mtu;
	const char *gateway; /* the host's own address there ("10.9.0.254/24"), or NULL: none */
};

/*
 * Make the bridge, or bring the one that is there to this state: up, MTU, the gateway as its only
 * address, a MAC made from its name and tag, IPv6 off unless the gateway is an IPv6
 * address. -EEXIST: a link of somebody else has the name. -EBUSY: it has ports and another MTU or
 * address, which running guests rely on.
 */
int net_bridge_ensure(const struct net_bridge_spec *spec, struct err *err);

/* How many ports it has; -ENODEV when there is no such bridge. */
int net_bridge_ports(const char *name, struct err *err);

/*
 * By its alias, or, if it was made but not yet marked when the process died, by its MAC, which comes
 * from the name and the tag up to its first colon.
 */
bool net_bridge_is_ours(const struct linkinfo *l, const char *tag);

/* 0: gone, or there was none. 1: kept, it has ports. -EPERM: it is not ours. */
int net_bridge_remove(const char *name, const char *tag, struct err *err);
