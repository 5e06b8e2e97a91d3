// SPDX-License-Identifier: Apache-2.0
/* Children of a measurement: none outlives its limit or the user's patience; a handler that has changed. */
#include "tests/unit/unit.h"

#include "cmd/bench.h"

#include "lib/child.h"
#include "lib/file.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that ends with this status; -1: never. */
static pid_t child(int status, int *ret_pidfd)
{
	pid_t pid = child_fork(ret_pidfd);

	assert_true(pid >= 0);
	if (pid)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (status < 0)
		(void)pause();
	_exit(status);
}

static void test_child(void **state)
{
	struct bench b = {0};
	struct err err = {0};
	siginfo_t info;
	int pidfd;
	pid_t pid = child(3, &pidfd);

	(void)state;
	assert_int_equal(bench_wait(&b, pidfd, 60000, "it", &info, &err), 0);
	assert_int_equal(info.si_code, CLD_EXITED);
	assert_int_equal(info.si_status, 3);
	(void)fd_close(pidfd);

	pid = child(-1, &pidfd);
	assert_int_equal(bench_wait(&b, pidfd, 10, "it", &info, &err), -ETIMEDOUT);
	assert_string_equal(err.msg, "it: nothing in 0 s");
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD); /* reaped */
	(void)fd_close(pidfd);
}

static void test_signal(void **state)
{
	struct bench b = {0};
	struct err err = {0};
	siginfo_t info;
	sigset_t set, old;
	int pidfd, r;
	pid_t pid = child(-1, &pidfd);

	(void)state;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &set, &old);
	(void)raise(SIGINT);
	r = bench_wait(&b, pidfd, 60000, "it", &info, &err);
	(void)sigwaitinfo(&set, NULL); /* it is still there for others to see */
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	assert_int_equal(r, -ECANCELED);
	assert_true(b.stopped);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	(void)fd_close(pidfd);
}

/* It listens, and answers nobody, until it is killed. */
static pid_t handler(int run, int *ret_pidfd)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = child_fork(ret_pidfd);
	if (pid == 0) {
		int fd = -1;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (sock_listen_at(run, "handler.sock", SOCK_STREAM, &fd) < 0 ||
		    write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			(void)fd_close(accept4(fd, NULL, NULL, SOCK_CLOEXEC));
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	return pid;
}

static void test_handler(void **state)
{
	char root[] = "/tmp/virtpod-bench-XXXXXX";
	struct cli cli = {.root = root};
	struct bench b = {.handler_pidfd = -1};
	struct paths paths;
	struct err err = {0};
	int first, second;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(root));
	assert_int_equal(paths_open(root, true, &paths, &err), 0);
	pid = handler(paths.run_fd, &first);
	assert_int_equal(client_open(&cli, &b.client, &err), 0);
	for (int i = 0; i < 2; i++) { /* the same again */
		assert_int_equal(bench_find_handler(&b, &err), 0);
		assert_int_equal(b.handler_pid, pid);
	}
	assert_int_equal(child_signal(first, SIGKILL), 0);
	pid = handler(paths.run_fd, &second);
	assert_int_equal(bench_find_handler(&b, &err), 0);
	assert_int_equal(b.handler_pid, pid);
	assert_int_equal(child_signal(first, 0), -ESRCH); /* reaped */
	assert_int_equal(child_signal(b.handler_pidfd, SIGKILL), 0);
	child_reap(second);
	client_free(b.client);
	(void)fd_close(b.handler_pidfd);
	(void)fd_close(first);
	(void)fd_close(second);
	paths_close(&paths);
	assert_int_equal(rm_rf_at(AT_FDCWD, root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_child),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_handler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
