// SPDX-License-Identifier: Apache-2.0
/* A NetworkAttachmentDefinition (CNI type bridge) as what its host bridge must be. */
#pragma once

#include <jansson.h>

#include "lib/err.h"

struct network {
	char *bridge;  /* host bridge wanted by name, or NULL: ours to name */
	unsigned mtu;  /* bytes, 68..65535; 1500 unless given */
	char *gateway; /* CIDR that the host bridge carries (isGateway), or NULL */
};

int nad_decode(const json_t *nad, struct network *ret, struct err *err);
void network_done(struct network *n);
