// SPDX-License-Identifier: Apache-2.0
/*
 * Link names inside a pod, KubeVirt's (pkg/network/namescheme, pkg/network/link/names.go), so that
 * what its users look for is found. All are derived from the pod NIC's name.
 */
#pragma once

#include <linux/if.h>
#include <stdbool.h>

#define NAMES_PRIMARY "eth0"

struct pod_names {
	char pod[IFNAMSIZ];    /* eth0       pod<11hex>: the pod NIC, later the dummy */
	char bridge[IFNAMSIZ]; /* k6t-eth0   k6t-<11hex> */
	char nic[IFNAMSIZ];    /* eth0-nic   <11hex>-nic: the pod NIC after its renaming */
	char tap[IFNAMSIZ];    /* tap0       tap<11hex> */
};

/*
 * Prefix and the first 11 hex digits of the text's SHA-256: how KubeVirt names a secondary network's
 * pod NIC ("pod", name of the VM's network). prefix: at most 4 characters.
 */
char *names_hashed(const char *prefix, const char *text, char ret[static IFNAMSIZ]);

/* Pod NIC of the VM's network `network` as the VM names it. */
char *names_pod_nic(const char *network, bool is_pod_network, char ret[static IFNAMSIZ]);

/* -EINVAL when a name would not fit: at most 11 characters, or "pod" and 1 to 11 more. */
int names_derive(const char *pod_ifname, struct pod_names *ret);
