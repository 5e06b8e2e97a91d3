// SPDX-License-Identifier: Apache-2.0
/* The pod's root file system (internal to sandbox/; stage 3 of enter.c). */
#pragma once

#include "lib/err.h"
#include "sandbox/enter.h"

/*
 * Build the root, pivot into it, detach the host's, read mountinfo back. Needs CAP_SYS_ADMIN over
 * the mount namespace, which must be the caller's own. Irreversible.
 */
int root_enter(const struct sandbox_enter *enter, struct err *err);
