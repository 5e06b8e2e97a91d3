// SPDX-License-Identifier: Apache-2.0
/* A process as the kernel describes it: what `inspect` shows and tests compare with the layers. */
#pragma once

#include "lib/err.h"

#include <jansson.h>
#include <sys/types.h>

/*
 * Read /proc/PID through one directory descriptor. Needs CAP_SYS_PTRACE for a pod's processes.
 * -ESRCH when it is gone. *ret is the caller's; docs/security.md names its members. Everything in it
 * that the process itself can choose (names, paths) is bounded and made valid UTF-8.
 */
int sandbox_read_process(pid_t pid, json_t **ret, struct err *err);
