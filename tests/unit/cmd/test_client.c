// SPDX-License-Identifier: Apache-2.0
/* What a client makes of a handler that goes while it is asked; a child process plays the handler. */
#include "tests/unit/unit.h"

#include "cmd/client.h"
#include "handler/paths.h"

#include "lib/file.h"
#include "lib/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";

/* For each request a letter: 'a' is answered, all else is not. */
static void play(int listening, const char *script)
{
	char request[4096];

	while (*script) {
		int fd = accept(listening, NULL, NULL);

		if (read(fd, request, sizeof request) > 0 && *script++ == 'a')
			(void)!write(fd, answer, sizeof answer - 1);
		(void)close(fd); /* one that says nothing only looks whether somebody is there */
	}
}

/* What METHOD is told, after the first 'a' for client_open()'s own question. */
static int ask(const char *script, const char *method)
{
	char root[] = "/tmp/vpunit.XXXXXX";
	_cleanup_client_ struct client *c = NULL;
	struct cli cli = {.root = root};
	struct paths paths;
	struct err err = {0};
	int fd, r;
	pid_t pid;

	assert_non_null(mkdtemp(root));
	assert_int_equal(paths_open(root, /* make= */ 1, &paths, &err), 0);
	assert_int_equal(sock_listen_at(paths.run_fd, "handler.sock", SOCK_STREAM, &fd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		play(fd, script);
		pause(); /* still there */
	}
	assert_int_equal(client_open(&cli, &c, &err), 0);
	r = client_call(c, method, "/x", NULL, NULL, &err);
	assert_int_equal(err.code, r);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	(void)close(fd);
	paths_close(&paths);
	(void)rm_rf_at(AT_FDCWD, root);
	return r;
}

static void test_asked_again(void **state)
{
	(void)state;
	assert_int_equal(ask("aa", "GET"), 0);
	assert_int_equal(ask("axa", "GET"), 0);
	assert_int_equal(ask("axxa", "GET"), 0);
}

/* It may have been done, and only its answer lost. */
static void test_not_asked_again(void **state)
{
	(void)state;
	assert_int_equal(ask("aa", "POST"), 0);
	assert_int_equal(ask("axa", "POST"), -ENOTCONN);
	assert_int_equal(ask("axa", "DELETE"), -ENOTCONN);
}

static void test_gives_up(void **state)
{
	(void)state;
	assert_int_equal(ask("axxxxa", "GET"), -ENOTCONN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asked_again),
		cmocka_unit_test(test_not_asked_again),
		cmocka_unit_test(test_gives_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
