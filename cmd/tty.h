// SPDX-License-Identifier: Apache-2.0
/* The user's terminal in raw mode, and back on every way out of the process. */
#pragma once

#include <stdbool.h>

/* stdin's terminal passes every key on; output stays as it was. 0, or -ENOTTY and the like. */
int tty_raw(void);

/* As it was before tty_raw; nothing when it is so already. Also called at exit. */
void tty_restore(void);
