// SPDX-License-Identifier: Apache-2.0
#include "handler/linknames.h"

#include "net/names.h"

#include "lib/util.h"

#include <string.h>

void link_names(const struct paths *paths, const char *pod_uid, const struct plan_nic *nic,
		struct link_names *ret)
{
	_cleanup_free_ char *network = xasprintf("%s/%s", paths->tag, nic->network);
	_cleanup_free_ char *port = xasprintf("%s/%s/%s", paths->tag, pod_uid, nic->name);

	*ret = (struct link_names){0};
	(void)names_hashed("vv", port, ret->veth);
	if (nic->bridge) {
		/* several definitions may name the same bridge: then it is the same segment */
		(void)snprintf(ret->bridge, sizeof ret->bridge, "%s", nic->bridge);
		(void)snprintf(ret->bridge_tag, sizeof ret->bridge_tag, "%s", paths->tag);
		return;
	}
	(void)names_hashed("vb", network, ret->bridge);
	/* the alias says which network it is of: another one with this hash is refused, not merged */
	(void)snprintf(ret->bridge_tag, sizeof ret->bridge_tag, "%s:%s", paths->tag, nic->network);
}
