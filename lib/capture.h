// SPDX-License-Identifier: Apache-2.0
/* What a program says, bounded in time and length. */
#pragma once

#include "lib/err.h"

#include <stddef.h>

/*
 * Run argv[0] (a path; no shell) with an empty stdin and no environment but PATH and LANG, and wait for its
 * end. *ret is what it wrote to stdout and stderr, the caller's. -ETIMEDOUT after `seconds` and -EFBIG
 * beyond `max` bytes, by which it is killed; -EIO when it ended with anything but 0: its first line is
 * in the error.
 */
int capture_run(const char *const argv[], unsigned seconds, size_t max, char **ret,
		struct err *err);
