// SPDX-License-Identifier: Apache-2.0
/*
 * Parsed here and not by libnl-route, which drops what a tap says of itself (IFLA_TUN_*) and gives
 * a port's learning flag only from a second, bridge-family dump.
 */
#include "net/linkinfo.h"

#include "lib/util.h"
#include "net/nlsock.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <string.h>

static void parse_tun(struct nlattr *data, struct linkinfo *l)
{
	struct nlattr *tb[IFLA_TUN_MAX + 1];
	struct linkinfo_tun *t = &l->tun;

	if (nla_parse_nested(tb, IFLA_TUN_MAX, data, NULL) < 0)
		return;
#define FLAG(attr) (tb[attr] && nla_get_u8(tb[attr]))
	*t = (struct linkinfo_tun){
		.is_tap = tb[IFLA_TUN_TYPE] && nla_get_u8(tb[IFLA_TUN_TYPE]) == IFF_TAP,
		.multi_queue = FLAG(IFLA_TUN_MULTI_QUEUE),
		.vnet_hdr = FLAG(IFLA_TUN_VNET_HDR),
		.packet_info = FLAG(IFLA_TUN_PI),
		.persist = FLAG(IFLA_TUN_PERSIST),
		.owner = tb[IFLA_TUN_OWNER] ? (int64_t)nla_get_u32(tb[IFLA_TUN_OWNER]) : -1,
		.group = tb[IFLA_TUN_GROUP] ? (int64_t)nla_get_u32(tb[IFLA_TUN_GROUP]) : -1,
		.queues = tb[IFLA_TUN_NUM_QUEUES] ? nla_get_u32(tb[IFLA_TUN_NUM_QUEUES]) : 1,
	};
#undef FLAG
	l->has_tun = true;
}

static void parse_port(struct nlattr *data, struct linkinfo *l)
{
	struct nlattr *tb[IFLA_BRPORT_MAX + 1];

	if (nla_parse_nested(tb, IFLA_BRPORT_MAX, data, NULL) == 0 && tb[IFLA_BRPORT_LEARNING])
		l->learning = nla_get_u8(tb[IFLA_BRPORT_LEARNING]);
}

static void parse_kind(struct nlattr *info, struct linkinfo *l)
{
	struct nlattr *tb[IFLA_INFO_MAX + 1];

	if (nla_parse_nested(tb, IFLA_INFO_MAX, info, NULL) < 0)
		return;
	if (tb[IFLA_INFO_KIND])
		(void)nla_strlcpy(l->kind, tb[IFLA_INFO_KIND], sizeof l->kind);
	if (str_eq(l->kind, "tun") && tb[IFLA_INFO_DATA])
		parse_tun(tb[IFLA_INFO_DATA], l);
	if (tb[IFLA_INFO_SLAVE_KIND] && tb[IFLA_INFO_SLAVE_DATA] &&
	    nla_strcmp(tb[IFLA_INFO_SLAVE_KIND], "bridge") == 0)
		parse_port(tb[IFLA_INFO_SLAVE_DATA], l);
}

static void parse_link(struct nlattr **tb, struct linkinfo *l)
{
	if (tb[IFLA_IFNAME])
		(void)nla_strlcpy(l->name, tb[IFLA_IFNAME], sizeof l->name);
	if (tb[IFLA_IFALIAS])
		(void)nla_strlcpy(l->alias, tb[IFLA_IFALIAS], sizeof l->alias);
	if (tb[IFLA_ADDRESS] && nla_len(tb[IFLA_ADDRESS]) == sizeof l->mac) {
		memcpy(l->mac, nla_data(tb[IFLA_ADDRESS]), sizeof l->mac);
		l->has_mac = true;
	}
	if (tb[IFLA_MTU])
		l->mtu = nla_get_u32(tb[IFLA_MTU]);
	if (tb[IFLA_OPERSTATE])
		l->oper = nla_get_u8(tb[IFLA_OPERSTATE]);
	if (tb[IFLA_MASTER])
		l->master = (int)nla_get_u32(tb[IFLA_MASTER]);
	if (tb[IFLA_LINK])
		l->peer = (int)nla_get_u32(tb[IFLA_LINK]);
	if (tb[IFLA_LINK_NETNSID])
		l->peer_netnsid = nla_get_s32(tb[IFLA_LINK_NETNSID]);
	if (tb[IFLA_LINKINFO])
		parse_kind(tb[IFLA_LINKINFO], l);
}

static bool parse_message(struct nlmsghdr *nlh, struct linkinfo *ret)
{
	struct nlattr *tb[IFLA_MAX + 1];
	const struct ifinfomsg *ifi;

	if (nlh->nlmsg_type != RTM_NEWLINK || nlmsg_parse(nlh, sizeof *ifi, tb, IFLA_MAX, NULL) < 0)
		return false;
	ifi = nlmsg_data(nlh);
	*ret = (struct linkinfo){
		.ifindex = ifi->ifi_index,
		.flags = ifi->ifi_flags,
		.peer_netnsid = -1,
		.learning = -1,
	};
	parse_link(tb, ret);
	return true;
}

static void on_one(struct nlmsghdr *nlh, void *arg)
{
	(void)parse_message(nlh, arg); /* the caller sees by the ifindex whether one came */
}

int linkinfo_find(struct nl_sock *sk, const char *name, struct linkinfo *ret, struct err *err)
{
	const struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC};
	_cleanup_nlmsg_ struct nl_msg *msg = nlsock_msg(RTM_GETLINK, 0, &ifi, sizeof ifi);
	struct linkinfo l = {0};
	struct err why = {0};
	int r;

	if (strlen(name) >= IFNAMSIZ)
		return err_set(err, -EINVAL, "link '%s': a name has at most %d characters", name,
			       IFNAMSIZ - 1);
	nlsock_put_text(msg, IFLA_IFNAME, name);
	nlsock_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	r = nlsock_request(sk, msg, on_one, &l, &why);
	if (r == -ENODEV)
		return 0;
	if (r == 0 && !l.ifindex)
		r = err_set(&why, -EIO, "the kernel's answer holds no link");
	if (r < 0)
		return err_set(err, r, "link '%s': read it: %s", name, why.msg);
	*ret = l;
	return 1;
}

int linkinfo_get(struct nl_sock *sk, const char *name, struct linkinfo *ret, struct err *err)
{
	int r = linkinfo_find(sk, name, ret, err);

	if (r == 0)
		return err_errno(err, -ENODEV, "link '%s'", name);
	return r < 0 ? r : 0;
}

struct list {
	struct linkinfo *links;
	size_t n;
};

static void on_each(struct nlmsghdr *nlh, void *arg)
{
	struct list *list = arg;
	struct linkinfo l;

	if (!parse_message(nlh, &l))
		return;
	list->links = xrealloc(list->links, list->n + 1, sizeof l);
	list->links[list->n++] = l;
}

static void list_restart(void *arg)
{
	struct list *list = arg;

	list->n = 0;
}

static int by_ifindex(const void *a, const void *b)
{
	int x = ((const struct linkinfo *)a)->ifindex, y = ((const struct linkinfo *)b)->ifindex;

	return (x > y) - (x < y);
}

int linkinfo_list(struct nl_sock *sk, struct linkinfo **ret, size_t *ret_n, struct err *err)
{
	const struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC};
	struct list list = {0};
	int r = nlsock_dump(sk, RTM_GETLINK, &ifi, sizeof ifi, on_each, list_restart, &list, err);

	if (r < 0) {
		err_prefix(err, "list links");
		free(list.links);
		return r;
	}
	if (list.n)
		qsort(list.links, list.n, sizeof *list.links, by_ifindex);
	*ret = list.links;
	*ret_n = list.n;
	return 0;
}
