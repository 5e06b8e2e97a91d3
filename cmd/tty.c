// SPDX-License-Identifier: Apache-2.0
#include "cmd/tty.h"

#include <errno.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static struct termios saved;
static bool is_raw;

int tty_raw(void)
{
	static bool registered;
	struct termios raw;

	if (is_raw)
		return 0;
	if (tcgetattr(STDIN_FILENO, &saved) < 0)
		return -errno;
	raw = saved;
	cfmakeraw(&raw);
	/* our own lines on stderr end in \n alone; the guest's \r\n is not harmed by one more \r */
	raw.c_oflag = saved.c_oflag;
	if (!registered && atexit(tty_restore) != 0)
		return -ENOMEM;
	registered = true;
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) < 0)
		return -errno;
	is_raw = true;
	return 0;
}

void tty_restore(void)
{
	if (!is_raw)
		return;
	is_raw = false;
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &saved); /* the terminal may be gone */
}
