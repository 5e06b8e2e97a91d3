// SPDX-License-Identifier: Apache-2.0
/* Capability sets of the calling thread, through libcap-ng, read back from /proc/self/status. */
#pragma once

#include "lib/err.h"

/* Hold CAP_SYS_ADMIN and CAP_SETPCAP over the next execve of an unprivileged id, and no other. */
int caps_keep_to_enter(struct err *err);

/*
 * Empty the bounding, ambient and inheritable sets, lock securebits so that no id brings anything
 * back, and empty permitted and effective but for `last` (a CAP_… or -1). Needs CAP_SETPCAP.
 */
int caps_drop(int last, struct err *err);

/* Empty permitted and effective, too. */
int caps_drop_last(struct err *err);

/* -EPERM unless all five sets are empty as the kernel reports them. */
int caps_verify_empty(struct err *err);
