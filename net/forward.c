// SPDX-License-Identifier: Apache-2.0
#include "net/forward.h"

#include "net/nlsock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter_ipv4/ip_tables.h>
#include <netlink/attr.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define TABLE_MAX (16u << 20) /* bytes of all rules of a table */

/* --- nftables -------------------------------------------------------------------------------- */

static const char *family_name(unsigned family)
{
	switch (family) {
	case NFPROTO_IPV4:
		return "ip";
	case NFPROTO_IPV6:
		return "ip6";
	case NFPROTO_INET:
		return "inet";
	default:
		return NULL; /* not what bridges pass IP packets to */
	}
}

static bool drops_forwarded(struct nlattr *tb[NFTA_CHAIN_MAX + 1])
{
	struct nlattr *hook[NFTA_HOOK_MAX + 1];
	uint32_t num, policy;

	if (!tb[NFTA_CHAIN_HOOK] || !tb[NFTA_CHAIN_POLICY] ||
	    nla_parse_nested(hook, NFTA_HOOK_MAX, tb[NFTA_CHAIN_HOOK], NULL) < 0 ||
	    !hook[NFTA_HOOK_HOOKNUM] || nla_len(hook[NFTA_HOOK_HOOKNUM]) < (int)sizeof num ||
	    nla_len(tb[NFTA_CHAIN_POLICY]) < (int)sizeof policy)
		return false;
	num = ntohl(nla_get_u32(hook[NFTA_HOOK_HOOKNUM]));
	policy = ntohl(nla_get_u32(tb[NFTA_CHAIN_POLICY]));
	return num == NF_INET_FORWARD && policy == NF_DROP;
}

static void on_chain(struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *tb[NFTA_CHAIN_MAX + 1];
	char *who = arg, table[40] = "", name[40] = "";
	const struct nfgenmsg *head = nlmsg_data(nlh);

	if (*who || nlmsg_parse(nlh, sizeof *head, tb, NFTA_CHAIN_MAX, NULL) < 0 ||
	    !family_name(head->nfgen_family) || !drops_forwarded(tb))
		return;
	if (tb[NFTA_CHAIN_TABLE])
		(void)nla_strlcpy(table, tb[NFTA_CHAIN_TABLE], sizeof table);
	if (tb[NFTA_CHAIN_NAME])
		(void)nla_strlcpy(name, tb[NFTA_CHAIN_NAME], sizeof name);
	(void)snprintf(who, FORWARD_WHO_MAX, "nftables %s %s %s", family_name(head->nfgen_family),
		       table, name);
}

static void begin_again(void *arg)
{
	*(char *)arg = '\0';
}

static int find_nft(char who[static FORWARD_WHO_MAX], struct err *err)
{
	const struct nfgenmsg head = {.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0};
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	int r = nlsock_open_protocol(-1, NETLINK_NETFILTER, &sk, err);

	if (r == 0)
		r = nlsock_dump(sk, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN, &head,
				sizeof head, on_chain, begin_again, who, err);
	if (r < 0)
		err_prefix(err, "nftables' chains");
	return r < 0 ? r : *who != '\0';
}

/* --- iptables, the older one ----------------------------------------------------------------- */

/* A chain's policy is the verdict of its last rule, where the "underflow" points. */
static bool policy_drops(const struct ipt_getinfo *info, const struct ipt_get_entries *all)
{
	size_t at = info->underflow[NF_INET_FORWARD];
	const struct ipt_entry *entry;
	const struct xt_standard_target *target;

	if (at + sizeof *entry > all->size)
		return false;
	entry = (const void *)((const char *)all->entrytable + at);
	if (entry->target_offset + sizeof *target > all->size - at)
		return false;
	target = (const void *)((const char *)entry + entry->target_offset);
	return target->verdict == -NF_DROP - 1;
}

static int find_legacy(char who[static FORWARD_WHO_MAX], struct err *err)
{
	_cleanup_fd_ int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	struct ipt_getinfo info = {.name = "filter"};
	_cleanup_free_ struct ipt_get_entries *all = NULL;
	socklen_t len = sizeof info;

	if (fd < 0 || getsockopt(fd, IPPROTO_IP, IPT_SO_GET_INFO, &info, &len) < 0)
		return err_errno(err, -errno, "iptables' filter table");
	if (info.size > TABLE_MAX)
		return err_set(err, -EFBIG,
			       "iptables' filter table has %u bytes, at most %u are read",
			       info.size, TABLE_MAX);
	len = (socklen_t)(sizeof *all + info.size);
	all = xcalloc(1, len);
	*all = (struct ipt_get_entries){.name = "filter", .size = info.size};
	if (getsockopt(fd, IPPROTO_IP, IPT_SO_GET_ENTRIES, all, &len) < 0)
		return err_errno(err, -errno, "iptables' filter table");
	if (!policy_drops(&info, all))
		return 0;
	(void)snprintf(who, FORWARD_WHO_MAX, "iptables filter FORWARD");
	return 1;
}

int forward_find_drop(bool nft, bool legacy, char ret_who[static FORWARD_WHO_MAX], struct err *err)
{
	char who[FORWARD_WHO_MAX] = "";
	int r = nft ? find_nft(who, err) : 0;

	if (r == 0 && legacy)
		r = find_legacy(who, err);
	if (r > 0)
		memcpy(ret_who, who, sizeof who);
	return r;
}
