// SPDX-License-Identifier: Apache-2.0
/*
 * One host uid (and gid of the same number) per pod: nothing else on the host runs as it, so a guest
 * that breaks out of everything else still owns nothing.
 */
#pragma once

#include "handler/handler.h"

/*
 * A free id of this root's block; recorded with the pod by the caller. The blocks lie above systemd's
 * container range (524288-1879048191) and below 2^31; ids in passwd, group or subuid are passed over.
 */
int ids_allocate(struct handler *h, uint32_t *ret, struct err *err);

/* The block of the root with this tag, and how many of its ids the host has given away. */
struct ids_block {
	uint32_t first, n;
	unsigned taken;
};

/* By passwd, group, subuid and subgid below the directory `root`; users of a name service are not seen. */
int ids_look(int root, const char *tag, struct ids_block *ret, struct err *err);
