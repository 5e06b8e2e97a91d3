// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "cmd/tty.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* stdin and stdout are a terminal in between; cmocka's own output goes to the old ones again. */
static int master, old_in, old_out;

static int begin(void **state)
{
	int slave;

	(void)state;
	master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return -1;
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	old_in = fcntl(0, F_DUPFD_CLOEXEC, 3);
	old_out = fcntl(1, F_DUPFD_CLOEXEC, 3);
	if (slave < 0 || old_in < 0 || old_out < 0 || dup2(slave, 0) < 0 || dup2(slave, 1) < 0)
		return -1;
	return close(slave);
}

static int end(void **state)
{
	(void)state;
	tty_restore();
	if (dup2(old_in, 0) < 0 || dup2(old_out, 1) < 0)
		return -1;
	return close(old_in) | close(old_out) | close(master);
}

static void arrives(const char *wanted)
{
	char buf[64];
	ssize_t n = read(master, buf, sizeof buf);

	assert_int_equal(n, strlen(wanted));
	assert_memory_equal(buf, wanted, n);
}

static void test_bytes(void **state)
{
	struct termios before, now;

	(void)state;
	assert_int_equal(tcgetattr(0, &before), 0);
	assert_int_equal(tty_write("a\n", 2), 0); /* not raw: as ever */
	arrives("a\r\n");
	assert_int_equal(tty_raw(), 0);
	assert_int_equal(tty_write("b\nc\r\n", 5), 0);
	arrives("b\nc\r\n");
	assert_int_equal(write(1, "ours\n", 5), 5);
	arrives("ours\r\n");
	tty_restore();
	assert_int_equal(tcgetattr(0, &now), 0);
	assert_int_equal(now.c_lflag, before.c_lflag);
	assert_int_equal(now.c_oflag, before.c_oflag);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bytes, begin, end),
	};

	return cmocka_run_group_tests_name("tty", tests, NULL, NULL);
}
