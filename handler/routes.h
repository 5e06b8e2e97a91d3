// SPDX-License-Identifier: Apache-2.0
/*
 * Paths of the API into what is meant. Pure. Kubernetes' own form is kept:
 * /api/v1/… for the core group, /apis/GROUP/VERSION/[namespaces/NS/]PLURAL[/NAME] for the others.
 */
#pragma once

#include "api/kind.h"

#include <stdbool.h>

enum route_to {
	ROUTE_NOWHERE,
	ROUTE_HEALTH,
	ROUTE_VERSION,
	ROUTE_API,		   /* /api */
	ROUTE_GROUPS,		   /* /apis */
	ROUTE_GROUP,		   /* /apis/GROUP */
	ROUTE_RESOURCES,	   /* /api/v1, /apis/GROUP/VERSION */
	ROUTE_SUBRESOURCE_VERSION, /* /apis/subresources.kubevirt.io/VERSION/version */
	ROUTE_COLLECTION,
	ROUTE_OBJECT,
	ROUTE_CONSOLE,
	ROUTE_INSPECT,
	ROUTE_VERIFY,
	ROUTE_LOG,
};

struct route {
	enum route_to to;
	char group[128]; /* "" is the core group */
	char version[64];
	const struct kind
		*kind; /* of collections and objects, and of what a subresource belongs to */
	char ns[64];   /* "": all namespaces, or a cluster-wide kind */
	char name[254];
};

/* path: decoded, without the query. What does not exist is ROUTE_NOWHERE. */
void route_parse(const char *path, struct route *ret);

#define SUBRESOURCES_KUBEVIRT "subresources.kubevirt.io"
#define SUBRESOURCES_VIRTPOD  "subresources.virtpod.io"
