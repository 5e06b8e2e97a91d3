// SPDX-License-Identifier: Apache-2.0
/* Fields of /proc/PID/status, the kernel's own word on a process or thread. */
#pragma once

#include <stddef.h>

#define STATUS_MAX (64 * 1024) /* a status file is about 1.5 KiB; groups can make it longer */

/* The value behind "key:" without blanks around it, at most `size` bytes. -ENOENT, -ENOSPC. */
int status_field(const char *status, const char *key, char *ret, size_t size);
