// SPDX-License-Identifier: Apache-2.0
/* The user's terminal in raw mode, and back on every way out of the process. */
#pragma once

#include <stddef.h>

/* stdin's terminal passes every key on; our own output stays as it was. 0, or -ENOTTY and the like. */
int tty_raw(void);

/*
 * A guest's bytes to stdout: on a raw terminal as they are, so that a \n alone, which moves the cursor
 * straight down in full-screen programs, gets no \r from the host's side. 0 or a negative errno.
 */
int tty_write(const void *data, size_t len);

/* As it was before tty_raw; nothing when it is so already. Also called at exit. */
void tty_restore(void);
