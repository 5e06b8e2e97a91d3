// SPDX-License-Identifier: Apache-2.0
#include "net/link.h"

#include "lib/mac.h"
#include "lib/util.h"
#include "net/nlsock.h"

#include <ctype.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <netlink/attr.h>
#include <stdarg.h>
#include <string.h>

static void put_peer(struct nl_msg *msg, const struct link_new *spec)
{
	struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC};
	struct nlattr *data = nlsock_nest(msg, IFLA_INFO_DATA);
	struct nlattr *peer = nlsock_nest(msg, VETH_INFO_PEER);

	/* a header of its own, then the attributes of an ordinary link */
	if (nlmsg_append(msg, &ifi, sizeof ifi, NLMSG_ALIGNTO) < 0)
		abort();
	nlsock_put_text(msg, IFLA_IFNAME, spec->peer_name);
	nlsock_put_u32(msg, IFLA_NET_NS_FD, (uint32_t)spec->peer_netns_fd);
	if (spec->peer_mac)
		nlsock_put(msg, IFLA_ADDRESS, spec->peer_mac, 6);
	if (spec->mtu)
		nlsock_put_u32(msg, IFLA_MTU, spec->mtu);
	nla_nest_end(msg, peer);
	nla_nest_end(msg, data);
}

int link_add(struct nl_sock *sk, const struct link_new *spec, struct err *err)
{
	const struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC};
	_cleanup_nlmsg_ struct nl_msg *msg =
		nlsock_msg(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifi, sizeof ifi);
	struct nlattr *info;
	int r;

	nlsock_put_text(msg, IFLA_IFNAME, spec->name);
	if (spec->mac)
		nlsock_put(msg, IFLA_ADDRESS, spec->mac, 6);
	if (spec->mtu)
		nlsock_put_u32(msg, IFLA_MTU, spec->mtu);
	if (spec->master)
		nlsock_put_u32(msg, IFLA_MASTER, (uint32_t)spec->master);
	info = nlsock_nest(msg, IFLA_LINKINFO);
	nlsock_put_text(msg, IFLA_INFO_KIND, spec->kind);
	if (spec->peer_name)
		put_peer(msg, spec);
	nla_nest_end(msg, info);
	r = nlsock_request(sk, msg, NULL, NULL, err);
	if (r < 0 && spec->peer_name)
		err_prefix(err, "create %s '%s' with '%s' in the pod", spec->kind, spec->name,
			   spec->peer_name);
	else if (r < 0)
		err_prefix(err, "create %s '%s'", spec->kind, spec->name);
	return r;
}

int link_delete(struct nl_sock *sk, const struct linkinfo *l, struct err *err)
{
	const struct ifinfomsg ifi = {.ifi_index = l->ifindex};
	_cleanup_nlmsg_ struct nl_msg *msg = nlsock_msg(RTM_DELLINK, 0, &ifi, sizeof ifi);
	int r = nlsock_request(sk, msg, NULL, NULL, err);

	if (r < 0)
		err_prefix(err, "delete link '%s'", l->name);
	return r;
}

static int set_attr(struct nl_sock *sk, const struct linkinfo *l, int attr, const void *data,
		    size_t len, struct err *err)
{
	const struct ifinfomsg ifi = {.ifi_index = l->ifindex};
	_cleanup_nlmsg_ struct nl_msg *msg = nlsock_msg(RTM_SETLINK, 0, &ifi, sizeof ifi);

	nlsock_put(msg, attr, data, len);
	return nlsock_request(sk, msg, NULL, NULL, err);
}

int link_set_up(struct nl_sock *sk, const struct linkinfo *l, struct err *err)
{
	const struct ifinfomsg ifi = {
		.ifi_index = l->ifindex,
		.ifi_flags = IFF_UP,
		.ifi_change = IFF_UP,
	};
	_cleanup_nlmsg_ struct nl_msg *msg = nlsock_msg(RTM_SETLINK, 0, &ifi, sizeof ifi);
	int r = nlsock_request(sk, msg, NULL, NULL, err);

	if (r < 0)
		err_prefix(err, "link '%s': set up", l->name);
	return r;
}

int link_rename(struct nl_sock *sk, const struct linkinfo *l, const char *name, struct err *err)
{
	int r = set_attr(sk, l, IFLA_IFNAME, name, strlen(name) + 1, err);

	if (r < 0)
		err_prefix(err, "link '%s': rename to '%s'", l->name, name);
	return r;
}

int link_set_mac(struct nl_sock *sk, const struct linkinfo *l, const uint8_t mac[static 6],
		 struct err *err)
{
	int r = set_attr(sk, l, IFLA_ADDRESS, mac, 6, err);
	char text[MAC_TEXT_MAX];

	if (r < 0)
		err_prefix(err, "link '%s': set MAC address %s", l->name, mac_format(mac, text));
	return r;
}

int link_set_mtu(struct nl_sock *sk, const struct linkinfo *l, unsigned mtu, struct err *err)
{
	uint32_t value = mtu;
	int r = set_attr(sk, l, IFLA_MTU, &value, sizeof value, err);

	if (r < 0)
		err_prefix(err, "link '%s': set MTU %u", l->name, mtu);
	return r;
}

int link_set_master(struct nl_sock *sk, const struct linkinfo *l, int master, struct err *err)
{
	uint32_t value = (uint32_t)master;
	int r = set_attr(sk, l, IFLA_MASTER, &value, sizeof value, err);

	if (r < 0)
		err_prefix(err, "link '%s': make it a port of link %d", l->name, master);
	return r;
}

int link_mark(struct nl_sock *sk, const struct linkinfo *l, const char *tag, struct err *err)
{
	_cleanup_free_ char *alias = xasprintf(LINK_ALIAS_PREFIX "%s", tag);
	int r = set_attr(sk, l, IFLA_IFALIAS, alias, strlen(alias), err);

	if (r < 0)
		err_prefix(err, "link '%s': set alias '%s'", l->name, alias);
	return r;
}

int link_set_learning(struct nl_sock *sk, const struct linkinfo *l, bool on, struct err *err)
{
	/* port flags go by the bridge family: RTM_SETLINK with IFLA_PROTINFO */
	const struct ifinfomsg ifi = {.ifi_family = AF_BRIDGE, .ifi_index = l->ifindex};
	_cleanup_nlmsg_ struct nl_msg *msg = nlsock_msg(RTM_SETLINK, 0, &ifi, sizeof ifi);
	/* without the flag the kernel takes the old format, one byte of port state */
	struct nlattr *port = nlsock_nest(msg, IFLA_PROTINFO | NLA_F_NESTED);
	uint8_t value = on;
	int r;

	nlsock_put(msg, IFLA_BRPORT_LEARNING, &value, sizeof value);
	nla_nest_end(msg, port);
	r = nlsock_request(sk, msg, NULL, NULL, err);
	if (r < 0)
		err_prefix(err, "bridge port '%s': set learning %s", l->name, on ? "on" : "off");
	return r;
}

bool link_is_ours(const struct linkinfo *l, const char *tag)
{
	const char *rest = str_after(l->alias, LINK_ALIAS_PREFIX);

	rest = rest ? str_after(rest, tag) : NULL;
	return rest && (*rest == 0 || *rest == ':');
}

void link_own_mac(const char *domain, const char *name, const char *tag, uint8_t ret[static 6])
{
	_cleanup_free_ char *root = xstrndup(tag, strcspn(tag, ":"));

	mac_derive(domain, root, name, ret);
}

bool link_was_born_ours(const struct linkinfo *l, const char *domain, const char *tag)
{
	uint8_t mac[6];

	link_own_mac(domain, l->name, tag, mac);
	return link_is_ours(l, tag) || (!*l->alias && memcmp(l->mac, mac, sizeof mac) == 0);
}

int link_taken(const struct linkinfo *l, const char *what, const char *cure, struct err *err)
{
	bool virtpods = str_after(l->alias, LINK_ALIAS_PREFIX);

	return err_set(err, -EEXIST,
		       "%s must be named '%s', and a link of that name is there that is not ours "
		       "(%s, alias '%s'%s): %s",
		       what, l->name, *l->kind ? l->kind : "device", l->alias,
		       virtpods ? ": virtpod's, of another root or network" : "", cure);
}

int link_check_tag(const char *tag, struct err *err)
{
	size_t len = strlen(tag), max = LINK_ALIAS_MAX - 1 - strlen(LINK_ALIAS_PREFIX);
	bool ok = len > 0 && len <= max;

	for (const char *p = tag; *p; p++)
		ok = ok && isgraph((unsigned char)*p);
	if (ok)
		return 0;
	return err_set(err, -EINVAL, "link tag '%s': must be 1 to %zu printable characters", tag,
		       max);
}

/* the kernel's own rule: dev_valid_name() in net/core/dev.c */
int link_check_name(const char *name, struct err *err)
{
	size_t len = strnlen(name, IFNAMSIZ);
	bool ok = len > 0 && len < IFNAMSIZ && !str_eq(name, ".") && !str_eq(name, "..");

	for (size_t i = 0; ok && i < len; i++)
		ok = isgraph((unsigned char)name[i]) && !strchr("/:%", name[i]);
	if (ok)
		return 0;
	return err_set(err, -EINVAL,
		       "link name '%.*s': must be 1 to %d printable characters without '/', ':' "
		       "and '%%'",
		       IFNAMSIZ, name, IFNAMSIZ - 1);
}

int link_check_mtu(unsigned mtu, struct err *err)
{
	if (mtu >= LINK_MTU_MIN && mtu <= LINK_MTU_MAX)
		return 0;
	return err_set(err, -EINVAL, "MTU %u: must be %d to %d", mtu, LINK_MTU_MIN, LINK_MTU_MAX);
}
