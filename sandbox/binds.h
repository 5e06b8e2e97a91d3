// SPDX-License-Identifier: Apache-2.0
/* What of the host a pod sees: read-only, at the same path as outside. */
#pragma once

#include "lib/err.h"

#include <stdbool.h>
#include <stddef.h>

struct sandbox_bind {
	const char *source; /* absolute, no ".", "..", blanks or linked folders in it; borrowed */
	bool optional;	    /* left out where the host has no such path */
};

#define SANDBOX_MAX_BINDS 32

/*
 * What qemu_path (absolute, borrowed) needs on Debian 12 and RHEL 9: libraries, dynamic loader,
 * firmware. *ret_n of ret[] are filled. -EINVAL on a path that can't be bound.
 */
int sandbox_binds_for_qemu(const char *qemu_path, struct sandbox_bind ret[SANDBOX_MAX_BINDS],
			   size_t *ret_n, struct err *err);

int sandbox_bind_check(const struct sandbox_bind *bind, struct err *err);
