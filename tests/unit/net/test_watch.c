// SPDX-License-Identifier: Apache-2.0
/* A change of links or addresses is heard where it happens and nowhere else, until it was drained. */
#include "lib/util.h"
#include "net/addr.h"
#include "net/link.h"
#include "net/nlsock.h"
#include "net/watch.h"
#include "tests/unit/net/pods.h"

#include <poll.h>

/* The kernel has told before it answers a request: no time has to pass. */
static bool heard(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	bool yes = poll(&p, 1, 0) == 1;

	net_watch_drain(fd);
	assert_int_equal(poll(&p, 1, 0), 0);
	return yes;
}

static void changes(void **state)
{
	struct link_new bridge = {.name = BR, .kind = "bridge"};
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	_cleanup_fd_ int netns = -1, here = -1, there = -1;
	int open_before = lab_count_fds();
	struct err err = {0};
	struct linkinfo l;

	(void)state;
	assert_ok(&err, netns_create(lab_dir, "pod", &netns, &err));
	assert_ok(&err, net_watch_open(-1, &here, &err));
	assert_ok(&err, net_watch_open(netns, &there, &err));
	assert_int_equal(lab_count_fds(), open_before + 3);
	assert_ok(&err, nlsock_open(netns, &sk, &err));
	assert_false(heard(here));
	assert_false(heard(there));
	assert_ok(&err, link_add(sk, &bridge, &err));
	assert_true(heard(there));
	assert_ok(&err, linkinfo_get(sk, BR, &l, &err));
	assert_ok(&err, addr_add(sk, &l, "10.9.0.1/24", &err));
	assert_true(heard(there));
	assert_ok(&err, link_delete(sk, &l, &err));
	assert_true(heard(there));
	assert_false(heard(here));
	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
}

/* More than fits: what is lost is no error, and the next change is heard again. */
static void flood(void **state)
{
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	struct link_new bridge = {.name = BR, .kind = "bridge"};
	_cleanup_fd_ int fd = -1;
	struct err err = {0};
	struct linkinfo l;
	int small = 1;

	(void)state;
	assert_ok(&err, net_watch_open(-1, &fd, &err));
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
	assert_ok(&err, nlsock_open(-1, &sk, &err));
	for (int i = 0; i < 20; i++) {
		assert_ok(&err, link_add(sk, &bridge, &err));
		assert_ok(&err, linkinfo_get(sk, BR, &l, &err));
		assert_ok(&err, link_delete(sk, &l, &err));
	}
	assert_true(heard(fd));
	assert_ok(&err, link_add(sk, &bridge, &err));
	assert_true(heard(fd));
	assert_ok(&err, linkinfo_get(sk, BR, &l, &err));
	assert_ok(&err, link_delete(sk, &l, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes),
		cmocka_unit_test(flood),
	};

	return cmocka_run_group_tests(tests, lab_enter, lab_leave);
}
