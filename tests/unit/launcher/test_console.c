// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "launcher/console.h"
#include "launcher/ring.h"
#include "lib/file.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static sd_event *event;
static struct console *console;
static int qemu;   /* QEMU's end */
static int log_fd; /* borrowed by the test: a second descriptor of the log */

static int setup(void **state)
{
	struct logfile log = {.fd = -1};
	struct err err = {0};
	int sv[2], fd;

	(void)state;
	assert_true(sd_event_new(&event) >= 0);
	fd = memfd_create("log", MFD_CLOEXEC);
	log_fd = dup(fd);
	assert_int_equal(logfile_open(fd, 4 << 20, &log), 0);
	assert_int_equal(sock_pair(SOCK_STREAM, sv), 0);
	qemu = sv[1];
	assert_int_equal(console_new(event, sv[0], &log, &console, &err), 0);
	assert_int_equal(log.fd, -1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	console_free(console);
	event = sd_event_unref(event);
	qemu = fd_close(qemu);
	log_fd = fd_close(log_fd);
	return 0;
}

static void settle(void)
{
	while (sd_event_run(event, 0) > 0)
		;
}

static int attach(void)
{
	struct err err = {0};
	int sv[2];

	assert_int_equal(sock_pair(SOCK_STREAM, sv), 0);
	assert_int_equal(console_attach(console, sv[0], &err), 0);
	return sv[1];
}

/* Write all of it as a guest would; the console must take it, whatever its client does. */
static void guest_says(const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = send(qemu, data, len, MSG_DONTWAIT);

		settle();
		if (n < 0) {
			assert_int_equal(errno, EAGAIN);
			continue;
		}
		data += n;
		len -= (size_t)n;
	}
	settle();
}

/* All that the client can read now, appended to buf. */
static size_t drain(int fd, char *buf, size_t size)
{
	size_t got = 0;

	for (;;) {
		ssize_t n = recv(fd, buf + got, size - got, MSG_DONTWAIT);

		if (n <= 0) {
			size_t before = got;

			settle();
			n = recv(fd, buf + got, size - got, MSG_DONTWAIT);
			if (n <= 0)
				return before;
		}
		got += (size_t)n;
	}
}

static void test_scrollback_and_echo(void **state)
{
	char buf[64] = "";
	int client;

	(void)state;
	guest_says("boot\r\n", 6);
	client = attach();
	guest_says("login: ", 7);
	assert_int_equal(drain(client, buf, sizeof buf), 13);
	assert_string_equal(buf, "boot\r\nlogin: ");
	assert_int_equal(write(client, "root\n", 5), 5);
	settle();
	memset(buf, 0, sizeof buf);
	assert_int_equal(recv(qemu, buf, sizeof buf, MSG_DONTWAIT), 5);
	assert_string_equal(buf, "root\n");
	(void)close(client);
}

static void test_one_client(void **state)
{
	struct err err = {0};
	int first = attach(), sv[2];
	char c;

	(void)state;
	assert_int_equal(sock_pair(SOCK_STREAM, sv), 0);
	assert_int_equal(console_attach(console, sv[0], &err), -EBUSY);
	assert_int_equal(read(sv[1], &c, 1), 0);
	(void)close(sv[1]);
	(void)close(first);
	settle();
	first = attach();
	(void)close(first);
}

/* The guest writes ten times what fits anywhere, nobody reads: it is never held up. */
static void test_slow_client(void **state)
{
	static char chunk[RING_SIZE], out[8u << 20];
	int client = attach();
	size_t n, total = 0;
	const char *notice;
	unsigned long lost;

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		memset(chunk, 'a' + (int)(i % 26), sizeof chunk);
		guest_says(chunk, sizeof chunk);
		total += sizeof chunk;
	}
	guest_says("END", 3);
	total += 3;
	n = drain(client, out, sizeof out - 1);
	out[n] = 0;
	notice = strstr(out, "\r\n[virtpod: console too slow, ");
	assert_non_null(notice);
	assert_null(strstr(notice + 3, "[virtpod:")); /* told once */
	lost = strtoul(notice + strlen("\r\n[virtpod: console too slow, "), NULL, 10);
	n -= (size_t)(strstr(notice, "lost]\r\n") + strlen("lost]\r\n") - notice);
	assert_int_equal(n + lost, total); /* every byte is accounted for */
	assert_string_equal(out + strlen(out) - 3, "END");
	(void)close(client);
}

/* The guest does not read: what is typed is bounded, and nothing is lost once it reads again. */
static void test_typing_is_bounded(void **state)
{
	static char typed[4u << 20];
	int client = attach();
	size_t sent = 0, got = 0;
	ssize_t n;

	(void)state;
	for (unsigned idle = 0; idle < 3 && sent < sizeof typed;) {
		n = send(client, typed + sent, sizeof typed - sent, MSG_DONTWAIT);
		idle = n > 0 ? 0 : idle + 1;
		sent += n > 0 ? (size_t)n : 0;
		settle();
	}
	assert_true(sent < sizeof typed);
	while (got < sent) {
		n = recv(qemu, typed, sizeof typed, MSG_DONTWAIT);
		got += n > 0 ? (size_t)n : 0;
		settle();
	}
	assert_int_equal(got, sent);
	(void)close(client);
}

/* `echo command | client`: it stops typing, and still reads. */
static void test_half_closed(void **state)
{
	int client = attach();
	char buf[8] = "";

	(void)state;
	assert_int_equal(write(client, "x", 1), 1);
	assert_int_equal(shutdown(client, SHUT_WR), 0);
	settle();
	assert_int_equal(recv(qemu, buf, sizeof buf, MSG_DONTWAIT), 1);
	guest_says("y", 1);
	assert_int_equal(drain(client, buf, sizeof buf), 1);
	assert_int_equal(buf[0], 'y');
	(void)close(client);
}

static void test_finish(void **state)
{
	int client = attach();
	char buf[16] = "";

	(void)state;
	assert_int_equal(write(qemu, "bye", 3), 3);
	qemu = fd_close(qemu);
	console_finish(console); /* the loop does not run any more */
	console_free(TAKE_PTR(console));
	assert_int_equal(recv(client, buf, sizeof buf, MSG_DONTWAIT), 3);
	assert_string_equal(buf, "bye");
	assert_int_equal(recv(client, buf, sizeof buf, MSG_DONTWAIT), 0);
	assert_int_equal(pread(log_fd, buf, sizeof buf, 0), 3);
	(void)close(client);
}

int main(void)
{
#define CONSOLE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CONSOLE_TEST(test_scrollback_and_echo), CONSOLE_TEST(test_one_client),
		CONSOLE_TEST(test_slow_client),		CONSOLE_TEST(test_typing_is_bounded),
		CONSOLE_TEST(test_half_closed),		CONSOLE_TEST(test_finish),
	};

	(void)alarm(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
