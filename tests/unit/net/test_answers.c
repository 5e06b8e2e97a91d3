// SPDX-License-Identifier: Apache-2.0
/* Answers that no kernel gives: nothing beyond them is read, and an error is an errno in any case. */
#include "tests/unit/unit.h"

#include "tests/unit/net/kernel.h"

#include "net/addr.h"
#include "net/linkinfo.h"

#include <errno.h>
#include <limits.h>
#include <linux/rtnetlink.h>

struct address {
	struct nlmsghdr head;
	struct ifaddrmsg ifa;
	struct nlattr attr;
	uint8_t bytes[4];
};

struct end {
	struct nlmsghdr head;
	int status;
};

static const struct end done = {{sizeof(struct end), NLMSG_DONE, NLM_F_MULTI, 0, 0}, 0};

static size_t addresses(int family, char ret[static ADDR_TEXT_MAX])
{
	const struct {
		struct address address;
		struct end end;
	} dump = {{{sizeof(struct address), RTM_NEWADDR, NLM_F_MULTI, 0, 0},
		   {.ifa_family = (uint8_t)family, .ifa_prefixlen = 24, .ifa_index = 5},
		   {sizeof(struct nlattr) + 4, IFA_LOCAL},
		   {10, 0, 0, 1}},
		  done};
	_cleanup_nlsock_ struct nl_sock *sk = kernel_open();
	_cleanup_free_ struct addr *addrs = NULL;
	struct err err = {0};
	size_t n = 0;

	kernel_says(&dump, sizeof dump);
	if (addr_list(sk, &addrs, &n, &err) < 0)
		fail_msg("%s", err.msg);
	if (n)
		(void)snprintf(ret, ADDR_TEXT_MAX, "%s", addrs[0].text);
	return n;
}

/* Four bytes are an address of one family and a quarter of one of the other. */
static void short_address(void **state)
{
	char text[ADDR_TEXT_MAX];

	(void)state;
	assert_int_equal(addresses(AF_INET, text), 1);
	assert_string_equal(text, "10.0.0.1/24");
	assert_int_equal(addresses(AF_INET6, text), 0);
}

static void end_says(int status, int expected)
{
	const struct end end = {done.head, status};
	_cleanup_nlsock_ struct nl_sock *sk = kernel_open();
	_cleanup_free_ struct linkinfo *links = NULL;
	struct err err = {0};
	size_t n;

	kernel_says(&end, sizeof end);
	assert_int_equal(linkinfo_list(sk, &links, &n, &err), expected);
	assert_int_equal(err.code, expected);
}

static void errors(void **state)
{
	const struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
	} refusal = {{sizeof refusal, NLMSG_ERROR, 0, 0, 0}, {.error = INT_MIN}};
	_cleanup_nlsock_ struct nl_sock *sk = kernel_open();
	struct linkinfo link;

	(void)state;
	end_says(0, 0);
	end_says(-EBUSY, -EBUSY);
	end_says(INT_MIN, -EIO);
	kernel_says(&refusal, sizeof refusal);
	assert_int_equal(linkinfo_find(sk, "eth0", &link, NULL), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_address),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
