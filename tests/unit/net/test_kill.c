// SPDX-License-Identifier: Apache-2.0
/*
 * kill -9 at any point: a child makes bridge, namespace and wiring under ptrace and is killed before
 * its nth system call, for n all the way through. Then what the next start would do must leave
 * nothing.
 */
#include "tests/unit/net/pods.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define STRIDE                                                                                     \
	7 /* not every stop, each takes 0.1 s; odd, so that both sides of system calls come */

static void child(const struct l2bridge_spec *spec)
{
	struct net_bridge_spec bridge = {.name = BR, .tag = LAB_TAG ":net", .mtu = 1500};
	int netns = -1, tap = -1;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 || raise(SIGSTOP) != 0)
		_exit(2);
	if (net_bridge_ensure(&bridge, NULL) < 0 ||
	    netns_create(lab_dir, "pod", &netns, NULL) < 0 ||
	    l2bridge_setup(netns, spec, &tap, NULL) < 0)
		_exit(1);
	_exit(0);
}

/* Let it go on to the nth stop (two for each system call) and kill it: 1; 0: it ended before. */
static int run_until(const struct l2bridge_spec *spec, int n)
{
	pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0)
		child(spec);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (int i = 0; i < n && WIFSTOPPED(status); i++) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	if (!WIFSTOPPED(status)) {
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
		return 0;
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	return 1;
}

static void clean(const struct l2bridge_spec *spec)
{
	struct err err = {0};

	assert_ok(&err, l2bridge_teardown(spec, &err));
	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
	host_bridge_remove();
}

static void killed_anywhere(void **state)
{
	_cleanup_free_ char *before = lab_dump();
	struct l2bridge_spec spec = pod_spec(1, 1500);
	int kills = 0, more = 1;

	(void)state;
	for (int n = 0; more; n += STRIDE) {
		_cleanup_free_ char *after = NULL;
		json_t *ours = NULL;
		struct err err = {0};

		more = run_until(&spec, n);
		kills += more;
		clean(&spec);
		after = lab_dump();
		assert_string_equal(before, after);
		assert_int_equal(faccessat(lab_dir, "pod", F_OK, 0), -1);
		assert_ok(&err, net_list_ours(LAB_TAG, &ours, &err));
		assert_int_equal(json_array_size(ours), 0);
		json_decref(ours);
	}
	/* the child was seen in the midst of its work and not only at its ends */
	assert_true(kills > 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_anywhere),
	};

	return cmocka_run_group_tests(tests, lab_enter, lab_leave);
}
