// SPDX-License-Identifier: Apache-2.0
#include "cmd/tty.h"

#include "lib/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static struct termios saved, raw;
static bool is_raw;

int tty_raw(void)
{
	static bool registered;

	if (is_raw)
		return 0;
	if (tcgetattr(STDIN_FILENO, &saved) < 0)
		return -errno;
	raw = saved;
	cfmakeraw(&raw);
	raw.c_oflag = saved.c_oflag; /* our own lines on stderr end in \n alone */
	if (!registered && atexit(tty_restore) != 0)
		return -ENOMEM;
	registered = true;
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) < 0)
		return -errno;
	is_raw = true;
	return 0;
}

int tty_write(const void *data, size_t len)
{
	struct termios guests = raw;
	int r;

	if (!is_raw)
		return fd_write_all(STDOUT_FILENO, data, len);
	/* output is processed while it is written: nothing has to be waited for on either side */
	guests.c_oflag &= ~(tcflag_t)OPOST;
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &guests); /* it may be gone: writing says so */
	r = fd_write_all(STDOUT_FILENO, data, len);
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	return r;
}

void tty_restore(void)
{
	if (!is_raw)
		return;
	is_raw = false;
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &saved); /* the terminal may be gone */
}
