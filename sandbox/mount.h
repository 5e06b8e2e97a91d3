// SPDX-License-Identifier: Apache-2.0
/* Detached mounts: made, given their attributes, and only then put where somebody can see them. */
#pragma once

#include "lib/err.h"
#include "sandbox/syscalls.h"

#include <stddef.h>

struct mount_option {
	const char *key, *value;
};

/* A new file system, nowhere attached. *ret is the caller's, close-on-exec. attrs: MOUNT_ATTR_…. */
int mount_new(const char *fs, const struct mount_option *options, size_t n, unsigned attrs,
	      int *ret, struct err *err);
