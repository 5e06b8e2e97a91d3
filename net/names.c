// SPDX-License-Identifier: Apache-2.0
#include "net/names.h"

#include "lib/sha256.h"
#include "lib/util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HASH_CHARS 11 /* HashedName in pkg/network/namescheme */

char *names_hashed(const char *prefix, const char *text, char ret[static IFNAMSIZ])
{
	char hex[SHA256_HEX];

	(void)snprintf(ret, IFNAMSIZ, "%.4s%.*s", prefix, HASH_CHARS, sha256_hex(text, hex));
	return ret;
}

char *names_pod_nic(const char *network, bool is_pod_network, char ret[static IFNAMSIZ])
{
	if (!is_pod_network)
		return names_hashed("pod", network, ret);
	(void)snprintf(ret, IFNAMSIZ, "%s", NAMES_PRIMARY);
	return ret;
}

int names_derive(const char *pod_ifname, struct pod_names *ret)
{
	const char *hash = str_after(pod_ifname, "pod");
	const char *base = hash ? hash : pod_ifname;
	struct pod_names n = {0};

	/* "k6t-" and "-nic" take four of the fifteen characters */
	if (!*base || strlen(base) > IFNAMSIZ - 1 - 4)
		return -EINVAL;
	(void)snprintf(n.pod, sizeof n.pod, "%s", pod_ifname);
	(void)snprintf(n.bridge, sizeof n.bridge, "k6t-%s", base);
	(void)snprintf(n.nic, sizeof n.nic, "%s-nic", base);
	/* a secondary network's pod NIC gives its tap a name; every other one is the pod network's */
	(void)snprintf(n.tap, sizeof n.tap, "tap%s", hash ? hash : "0");
	*ret = n;
	return 0;
}
