// SPDX-License-Identifier: Apache-2.0
/* Dumps that change while they are read: the transport's own business, made to happen here. */
#include "net/nlsock.h"

#include "net/link.h"
#include "tests/unit/net/lab.h"

#include <linux/rtnetlink.h>

/* enough that a dump takes more datagrams than the kernel fills ahead */
#define MANY 150

struct reader {
	struct nl_sock *other; /* changes links while the first socket reads */
	int changes_left, changed;
	int attempts, messages;
	bool change_now;
};

static void add_bridge(struct nl_sock *sk, int number)
{
	struct link_new new = {.kind = "bridge"};
	struct err err = {0};
	char name[IFNAMSIZ];

	(void)snprintf(name, sizeof name, "b%d", number);
	new.name = name;
	assert_ok(&err, link_add(sk, &new, &err));
}

static void on_message(struct nlmsghdr *nlh, void *arg)
{
	struct reader *r = arg;

	assert_int_equal(nlh->nlmsg_type, RTM_NEWLINK);
	r->messages++;
	if (!r->change_now)
		return;
	r->change_now = false;
	add_bridge(r->other, MANY + r->changed++);
}

static void on_restart(void *arg)
{
	struct reader *r = arg;

	r->attempts++;
	r->messages = 0;
	r->change_now = r->changes_left-- > 0;
}

static int dump(struct nl_sock *sk, struct reader *r, struct err *err)
{
	const struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC};

	return nlsock_dump(sk, RTM_GETLINK, &ifi, sizeof ifi, on_message, on_restart, r, err);
}

static void torn_dumps(void **state)
{
	_cleanup_nlsock_ struct nl_sock *sk = NULL, *other = NULL;
	struct reader r = {0};
	struct err err = {0};

	(void)state;
	assert_ok(&err, nlsock_open(-1, &sk, &err));
	assert_ok(&err, nlsock_open(-1, &other, &err));
	for (int i = 0; i < MANY; i++)
		add_bridge(other, i);

	r = (struct reader){.other = other};
	assert_ok(&err, dump(sk, &r, &err));
	assert_int_equal(r.attempts, 1);
	assert_int_equal(r.messages, MANY + 1); /* and lo */

	r = (struct reader){.other = other, .changes_left = 2};
	assert_ok(&err, dump(sk, &r, &err));
	assert_int_equal(r.attempts, 3);
	assert_int_equal(r.messages, MANY + 1 + 2);

	r = (struct reader){.other = other, .changes_left = 1000, .changed = 2};
	assert_refused(-EAGAIN, "faster than they can be read", &err, dump(sk, &r, &err));
	/* the socket is still in step */
	r = (struct reader){.other = other};
	assert_ok(&err, dump(sk, &r, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(torn_dumps),
	};

	return cmocka_run_group_tests(tests, lab_enter, lab_leave);
}
