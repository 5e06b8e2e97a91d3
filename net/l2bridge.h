// SPDX-License-Identifier: Apache-2.0
/*
 * The l2bridge binding: a veth from the network's bridge into the pod, and in the pod KubeVirt's
 * managedTap, link by link in its order (pkg/network/setup/netpod, pkg/network/driver/nmstate):
 *
 *   host bridge -- HOST_IFNAME ==veth== X-nic -- k6t-X -- tap -- QEMU        (X: dummy, down)
 */
#pragma once

#include "lib/err.h"
#include "net/linkinfo.h"

#include <linux/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct l2bridge_spec {
	char pod_ifname[IFNAMSIZ];  /* X: names_pod_nic() */
	char bridge[IFNAMSIZ];	    /* the network's bridge in the host; must be there */
	char host_ifname[IFNAMSIZ]; /* the host's end of the veth */
	const char *tag;	    /* alias of the host's end is "virtpod:TAG" */
	uint8_t pod_mac[6];	    /* the pod NIC's at first, then the dummy's and the guest's */
	unsigned mtu;		    /* of every link; must be the host bridge's */
	unsigned queues;	    /* 1 to TAP_QUEUES_MAX */
	uid_t owner;
	gid_t group;
	const char *const *addresses; /* the pod NIC's, for the dummy to keep; NULL or NULL-ended */
};

/*
 * Wire the pod in netns_fd to the bridge of the caller's namespace. ret_tap_fds gets spec->queues
 * fds, the caller's to close. Every link is read back: another MTU, MAC, master or learning flag
 * than asked for is -EIO.
 * On failure the host is as before; the pod's namespace may hold some of the links and has to be
 * destroyed. -EOPNOTSUPP: there are addresses to keep and the kernel has no dummy driver. -EEXIST: a
 * link of somebody else has the host end's name.
 */
int l2bridge_setup(int netns_fd, const struct l2bridge_spec *spec, int *ret_tap_fds,
		   struct err *err);

/*
 * A host's end by its alias, or, if it was made but not yet marked when the process died, by its MAC,
 * which comes from its name and the tag up to its first colon.
 */
bool l2bridge_is_ours(const struct linkinfo *l, const char *tag);

/*
 * Delete the host's end, and with it the pod's; the rest goes with the pod's namespace. Absent is
 * fine, at any half-way point. -EPERM: the link of that name is not ours.
 */
int l2bridge_teardown(const struct l2bridge_spec *spec, struct err *err);
