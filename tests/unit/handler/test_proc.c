// SPDX-License-Identifier: Apache-2.0
/* Processes by number and start time, and the numbers of a pid namespace's inside. */
#include "tests/unit/unit.h"

#include "handler/kthreads.h"
#include "handler/proc.h"

#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A pod in small: PID 1 of a namespace, its child with a second thread, and the child's child. */
struct pod {
	pid_t pid1, child, thread, grandchild;		   /* the host's numbers */
	pid_t inner_child, inner_thread, inner_grandchild; /* as they see themselves */
	int pidfd;
};

struct report {
	char who;
	pid_t inner;
};

static void tell(int fd, char who)
{
	struct report r = {who, (pid_t)syscall(SYS_gettid)};

	if (write(fd, &r, sizeof r) != sizeof r)
		_exit(1);
}

static void *idle(void *arg)
{
	if (arg)
		tell(*(int *)arg, 't');
	while (pause() < 0)
		;
	return NULL;
}

static void child(int fd)
{
	pthread_t thread;

	(void)prctl(PR_SET_NAME, ") S 1 (x"); /* as misleading as a name can be */
	tell(fd, 'c');
	if (fork() == 0) {
		tell(fd, 'g');
		(void)idle(NULL);
	}
	if (pthread_create(&thread, NULL, idle, &fd) != 0)
		_exit(1);
	(void)idle(NULL);
}

static int pid1(void *arg)
{
	int fd = *(int *)arg;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fork() == 0)
		child(fd);
	(void)idle(NULL);
	return 1;
}

static int setup(void **state)
{
	static char stack[64 * 1024] __attribute__((aligned(16)));
	struct pod *p = xcalloc(1, sizeof *p);
	struct report r;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	p->pid1 = clone(pid1, stack + sizeof stack, CLONE_NEWPID | SIGCHLD, &fds[1]);
	assert_true(p->pid1 > 0);
	p->pidfd = pidfd_open(p->pid1, 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(read(fds[0], &r, sizeof r), sizeof r);
		if (r.who == 'c')
			p->inner_child = r.inner;
		else if (r.who == 'g')
			p->inner_grandchild = r.inner;
		else
			p->inner_thread = r.inner;
	}
	(void)close(fds[0]);
	(void)close(fds[1]);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct pod *p = *state;

	(void)kill(p->pid1, SIGKILL);
	(void)waitpid(p->pid1, NULL, 0);
	(void)fd_close(p->pidfd);
	free(p);
	return 0;
}

static void test_start(void **state)
{
	struct pod *p = *state;
	uint64_t own = proc_start(getpid()), theirs = proc_start(p->pid1);

	assert_true(own > 0);
	assert_true(theirs >= own);
	assert_int_equal(proc_start(0), 0);
	assert_int_equal(proc_start(-1), 0);
	assert_int_equal(proc_start(0x7fffffff), 0);
	assert_true(proc_is(getpid(), own));
	assert_false(proc_is(getpid(), own + 1)); /* another that got the same number */
	assert_false(proc_is(getpid(), 0));
	assert_false(proc_is(0x7fffffff, 0)); /* nobody, never recorded: not the same nobody */
}

/* The name in parentheses moves no field. */
static void test_start_of_misleading_name(void **state)
{
	struct pod *p = *state;
	pid_t host;

	assert_int_equal(proc_child_by_inner(p->pid1, p->inner_child, &host), 0);
	assert_true(proc_start(host) >= proc_start(p->pid1));
	assert_true(proc_start(host) < proc_start(p->pid1) + 100 * 60);
}

static void test_pidfd(void **state)
{
	struct pod *p = *state;
	uint64_t start = proc_start(p->pid1);
	int fd = -1;

	assert_int_equal(proc_pidfd(p->pid1, start, &fd), 0);
	assert_int_equal(pidfd_send_signal(fd, 0, NULL, 0), 0);
	fd = fd_close(fd);
	assert_int_equal(proc_pidfd(p->pid1, start + 1, &fd), -ESRCH);
	assert_int_equal(proc_pidfd(0, start, &fd), -ESRCH);
	assert_int_equal(proc_pidfd(-1, start, &fd), -ESRCH);
	assert_int_equal(fd, -1);
}

/* Dead but not waited for: still the same one. */
static void test_zombie(void **state)
{
	struct pod *p = *state;
	uint64_t start = proc_start(p->pid1);
	siginfo_t info;
	int fd = -1;

	assert_int_equal(kill(p->pid1, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)p->pid1, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(proc_pidfd(p->pid1, start, &fd), 0);
	(void)fd_close(fd);
	assert_int_equal(waitpid(p->pid1, NULL, 0), p->pid1);
	assert_int_equal(proc_pidfd(p->pid1, start, &fd), -ESRCH);
}

/* A number that is a thread's by now is no process of ours. */
static void test_number_of_a_thread(void **state)
{
	struct pod *p = *state;
	pid_t host, thread;
	int fd = -1;

	assert_int_equal(proc_child_by_inner(p->pid1, p->inner_child, &host), 0);
	assert_int_equal(proc_thread_by_inner(host, p->inner_thread, &thread), 0);
	assert_int_equal(proc_pidfd(thread, 12345, &fd), -ESRCH);
}

static void test_inner_numbers(void **state)
{
	struct pod *p = *state;
	pid_t host = 0, main_thread = 0, thread = 0;

	assert_int_equal(proc_child_by_inner(p->pid1, p->inner_child, &host), 0);
	assert_int_not_equal(host, p->inner_child);
	assert_int_equal(getpgid(host), getpgid(0)); /* it is there */
	assert_int_equal(proc_thread_by_inner(host, p->inner_child, &main_thread), 0);
	assert_int_equal(main_thread, host);
	assert_int_equal(proc_thread_by_inner(host, p->inner_thread, &thread), 0);
	assert_int_not_equal(thread, host);
	assert_int_equal(syscall(SYS_tgkill, host, thread, 0), 0); /* a thread of that process */
}

/* What a launcher may claim: others' numbers, host's numbers, none. Nothing is returned for them. */
static void test_wrong_inner_numbers(void **state)
{
	struct pod *p = *state;
	pid_t host, out = 77;

	assert_int_equal(proc_child_by_inner(p->pid1, p->inner_child, &host), 0);
	assert_int_equal(proc_child_by_inner(p->pid1, 1, &out), -ESRCH);
	assert_int_equal(proc_child_by_inner(p->pid1, 0, &out), -ESRCH);
	assert_int_equal(proc_child_by_inner(p->pid1, -1, &out), -ESRCH);
	assert_int_equal(proc_child_by_inner(p->pid1, host, &out), -ESRCH);
	assert_int_equal(proc_child_by_inner(p->pid1, p->inner_thread, &out), -ESRCH);
	/* a child's child is not its own */
	assert_int_equal(proc_child_by_inner(p->pid1, p->inner_grandchild, &out), -ESRCH);
	assert_int_equal(proc_child_by_inner(0x7fffffff, 2, &out), -ESRCH);
	assert_int_equal(proc_child_by_inner(0, 2, &out), -ESRCH);
	assert_int_equal(proc_thread_by_inner(host, p->inner_grandchild, &out), -ESRCH);
	assert_int_equal(proc_thread_by_inner(host, 0, &out), -ESRCH);
	assert_int_equal(proc_thread_by_inner(host, 1, &out), -ESRCH);
	assert_int_equal(proc_thread_by_inner(0x7fffffff, 2, &out), -ESRCH);
	assert_int_equal(out, 77);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* The kernel's own threads where they can be seen; no process, whatever it is called. */
static void test_kernel_threads(void **state)
{
	_cleanup_free_ char *pids = NULL;
	struct pod *p = *state;
	struct err err = {0};
	_cleanup_fd_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	pid_t host = 0, kernel;

	assert_int_equal(proc_child_by_inner(p->pid1, p->inner_child, &host), 0);
	assert_false(proc_is_kernel(host)); /* ") S 1 (x" */
	assert_false(proc_is_kernel(getpid()));
	assert_false(proc_is_kernel(0x7fffffff));
	if (!proc_sees_kernel()) { /* in a pid namespace: then nobody is taken for one */
		assert_false(proc_is_kernel(2));
		return;
	}
	if (kthreads_list(root, &pids, &err) < 0)
		fail_msg("%s", err.msg);
	kernel = (pid_t)strtol(pids, NULL, 10);
	assert_true(kernel > 2);
	assert_true(proc_is_kernel(kernel));
	assert_false(proc_is_kernel(2)); /* its parent is nobody */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_start),
		TEST(test_start_of_misleading_name),
		TEST(test_pidfd),
		TEST(test_zombie),
		TEST(test_number_of_a_thread),
		TEST(test_inner_numbers),
		TEST(test_wrong_inner_numbers),
		TEST(test_kernel_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
