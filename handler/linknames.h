// SPDX-License-Identifier: Apache-2.0
/*
 * Names of our links in the host: at most 15 characters, with the root's tag and a hash, so that two
 * roots, networks or pods never share one. Pure.
 */
#pragma once

#include "handler/paths.h"

#include "api/plan.h"

#include <linux/if.h>

struct link_names {
	char bridge
		[IFNAMSIZ];   /* the network's: as its definition says, or "vb" and 11 hex digits */
	char bridge_tag[200]; /* for its alias: the root's tag, and the network where we named it */
	char veth[IFNAMSIZ];  /* the pod's port on it: "vv" and 11 hex digits */
};

void link_names(const struct paths *paths, const char *pod_uid, const struct plan_nic *nic,
		struct link_names *ret);
