// SPDX-License-Identifier: Apache-2.0
/*
 * Image locks, in the byte ranges and with the meaning that QEMU gives them (block/file-posix.c), so
 * that a QEMU of anybody's and ours exclude each other. They are OFD locks: they belong to the open
 * file description that QEMU gets, and end when its last holder has gone.
 */
#pragma once

#include "handler/pod.h"

#include "lib/err.h"

#include <stdbool.h>

/*
 * Lock the image behind fd for a disk of `pod` that is written to, or only read. shareable: others may
 * write, too. -EBUSY names who has it open, as far as /proc tells: another disk of this pod, another VM of
 * this handler, or a process; `path` is for the message.
 */
int imagelock_take(const struct pod *pod, int fd, const char *path, bool write, bool shareable,
		   struct err *err);
