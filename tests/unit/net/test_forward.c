// SPDX-License-Identifier: Apache-2.0
/* FORWARD chains that drop, in a network namespace of the test's own: none, nftables', iptables'. */
#include "tests/unit/net/lab.h"

#include "net/forward.h"
#include "net/nlsock.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter_ipv4/ip_tables.h>
#include <sys/socket.h>

static void finds(int wanted, const char *words)
{
	char who[FORWARD_WHO_MAX] = "untouched";
	struct err err = {0};
	int r = forward_find_drop(true, true, who, &err);

	if (r < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(r, wanted);
	assert_string_equal(who, words);
}

/* --- nftables: changes go in a batch ---------------------------------------------------------- */

static struct nl_msg *nft_msg(int type, int flags, unsigned family)
{
	const struct nfgenmsg head = {.nfgen_family = (unsigned char)family,
				      .version = NFNETLINK_V0};

	return nlsock_msg(NFNL_SUBSYS_NFTABLES << 8 | type, flags, &head, sizeof head);
}

static struct nl_msg *batch(int type)
{
	const struct nfgenmsg head = {.version = NFNETLINK_V0,
				      .res_id = htons(NFNL_SUBSYS_NFTABLES)};

	return nlsock_msg(type, NLM_F_REQUEST, &head, sizeof head);
}

static void send_batch(struct nl_msg *change)
{
	_cleanup_nlmsg_ struct nl_msg *begin = batch(NFNL_MSG_BATCH_BEGIN);
	_cleanup_nlmsg_ struct nl_msg *end = batch(NFNL_MSG_BATCH_END);
	struct nl_msg *all[] = {begin, change, end};
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	struct err err = {0};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr body;
	} answer = {0};
	char text[4096];
	size_t len = 0;

	assert_ok(&err, nlsock_open_protocol(-1, NETLINK_NETFILTER, &sk, &err));
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		nl_complete_msg(sk, all[i]);
		memcpy(text + len, nlmsg_hdr(all[i]), nlmsg_hdr(all[i])->nlmsg_len);
		len += NLMSG_ALIGN(nlmsg_hdr(all[i])->nlmsg_len);
	}
	assert_int_equal(send(nl_socket_get_fd(sk), text, len, 0), len);
	assert_true(recv(nl_socket_get_fd(sk), &answer, sizeof answer, 0) > 0);
	assert_int_equal(answer.head.nlmsg_type, NLMSG_ERROR);
	assert_int_equal(answer.body.error, 0);
	nlmsg_free(change);
}

static void make_chain(unsigned family, const char *table, const char *chain, uint32_t hook,
		       uint32_t policy)
{
	struct nl_msg *t = nft_msg(NFT_MSG_NEWTABLE, NLM_F_CREATE | NLM_F_ACK, family);
	struct nl_msg *c = nft_msg(NFT_MSG_NEWCHAIN, NLM_F_CREATE | NLM_F_ACK, family);
	struct nlattr *nest;

	nlsock_put_text(t, NFTA_TABLE_NAME, table);
	send_batch(t);
	nlsock_put_text(c, NFTA_CHAIN_TABLE, table);
	nlsock_put_text(c, NFTA_CHAIN_NAME, chain);
	nest = nlsock_nest(c, NFTA_CHAIN_HOOK);
	nlsock_put_u32(c, NFTA_HOOK_HOOKNUM, htonl(hook));
	nlsock_put_u32(c, NFTA_HOOK_PRIORITY, 0);
	nla_nest_end(c, nest);
	nlsock_put_u32(c, NFTA_CHAIN_POLICY, htonl(policy));
	nlsock_put_text(c, NFTA_CHAIN_TYPE, "filter");
	send_batch(c);
}

/* --- the older iptables: a table is replaced as a whole ---------------------------------------- */

static void set_legacy_policy(int verdict)
{
	_cleanup_fd_ int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	struct ipt_getinfo info = {.name = "filter"};
	_cleanup_free_ struct ipt_get_entries *all = NULL;
	_cleanup_free_ struct ipt_replace *new = NULL;
	_cleanup_free_ struct xt_counters *counters = NULL;
	struct xt_standard_target *target;
	struct ipt_entry *entry;
	socklen_t len = sizeof info;

	assert_int_equal(getsockopt(fd, IPPROTO_IP, IPT_SO_GET_INFO, &info, &len), 0);
	len = (socklen_t)(sizeof *all + info.size);
	all = xcalloc(1, len);
	*all = (struct ipt_get_entries){.name = "filter", .size = info.size};
	assert_int_equal(getsockopt(fd, IPPROTO_IP, IPT_SO_GET_ENTRIES, all, &len), 0);
	counters = xcalloc(info.num_entries, sizeof *counters);
	new = xcalloc(1, sizeof *new + info.size);
	*new = (struct ipt_replace){.name = "filter",
				    .valid_hooks = info.valid_hooks,
				    .num_entries = info.num_entries,
				    .size = info.size,
				    .num_counters = info.num_entries,
				    .counters = counters};
	memcpy(new->hook_entry, info.hook_entry, sizeof info.hook_entry);
	memcpy(new->underflow, info.underflow, sizeof info.underflow);
	memcpy(new->entries, all->entrytable, info.size);
	entry = (void *)((char *)new->entries + info.underflow[NF_INET_FORWARD]);
	target = (void *)((char *)entry + entry->target_offset);
	target->verdict = -verdict - 1;
	assert_int_equal(setsockopt(fd, IPPROTO_IP, IPT_SO_SET_REPLACE, new,
				    (socklen_t)(sizeof *new + info.size)),
			 0);
}

static void nothing(void **state)
{
	(void)state;
	finds(0, "untouched");
}

static void legacy(void **state)
{
	(void)state;
	set_legacy_policy(NF_ACCEPT);
	finds(0, "untouched");
	set_legacy_policy(NF_DROP);
	finds(1, "iptables filter FORWARD");
	set_legacy_policy(NF_ACCEPT);
}

/* Last: its chains stay. Other hooks, other policies and other families are none of bridges' business. */
static void nft(void **state)
{
	(void)state;
	make_chain(NFPROTO_IPV4, "filter", "INPUT", NF_INET_LOCAL_IN, NF_DROP);
	make_chain(NFPROTO_IPV4, "filter", "FORWARD", NF_INET_FORWARD, NF_ACCEPT);
	make_chain(NFPROTO_BRIDGE, "mine", "frames", NF_INET_FORWARD, NF_DROP);
	finds(0, "untouched");
	make_chain(NFPROTO_INET, "firewalld", "filter_FORWARD", NF_INET_FORWARD, NF_DROP);
	finds(1, "nftables inet firewalld filter_FORWARD");
}

/* What isn't asked isn't found. */
static void not_asked(void **state)
{
	char who[FORWARD_WHO_MAX] = "untouched";
	struct err err = {0};

	(void)state;
	assert_int_equal(forward_find_drop(false, false, who, &err), 0);
	assert_int_equal(forward_find_drop(false, true, who, &err), 0);
	assert_string_equal(who, "untouched");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(legacy),
		cmocka_unit_test(nft),
		cmocka_unit_test(not_asked),
	};

	return cmocka_run_group_tests(tests, lab_enter, lab_leave);
}
