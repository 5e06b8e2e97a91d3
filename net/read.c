// SPDX-License-Identifier: Apache-2.0
#include "net/read.h"

#include "lib/mac.h"
#include "lib/util.h"
#include "net/addr.h"
#include "net/bridge.h"
#include "net/l2bridge.h"
#include "net/link.h"
#include "net/nlsock.h"

#include <linux/if.h>

/* RFC 2863's states in the order of IF_OPER_… (linux/if.h) */
static const char *const oper_names[] = {
	"unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up",
};

struct snapshot {
	struct linkinfo *links; /* owned */
	size_t n_links;
	struct addr *addrs; /* owned */
	size_t n_addrs;
};

static void snapshot_done(struct snapshot *s)
{
	free(s->links);
	free(s->addrs);
}

/* jansson fails only without memory */
static void set(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) < 0)
		abort();
}

static json_t *tun_json(const struct linkinfo_tun *t)
{
	json_t *o = json_object();

	set(o, "type", json_string(t->is_tap ? "tap" : "tun"));
	if (t->owner >= 0)
		set(o, "owner", json_integer(t->owner));
	if (t->group >= 0)
		set(o, "group", json_integer(t->group));
	set(o, "multiQueue", json_boolean(t->multi_queue));
	set(o, "queues", json_integer(t->queues));
	set(o, "vnetHdr", json_boolean(t->vnet_hdr));
	set(o, "packetInfo", json_boolean(t->packet_info));
	set(o, "persist", json_boolean(t->persist));
	return o;
}

static json_t *addresses_json(const struct snapshot *s, int ifindex)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n_addrs; i++)
		if (s->addrs[i].ifindex == ifindex &&
		    json_array_append_new(list, json_string(s->addrs[i].text)) < 0)
			abort();
	return list;
}

static void set_relations(json_t *o, const struct snapshot *s, const struct linkinfo *l)
{
	bool veth = str_eq(l->kind, "veth") && l->peer;

	for (size_t i = 0; l->master && i < s->n_links; i++)
		if (s->links[i].ifindex == l->master)
			set(o, "master", json_string(s->links[i].name));
	if (l->learning >= 0)
		set(o, "learning", json_boolean(l->learning));
	if (veth)
		set(o, "peerIfindex", json_integer(l->peer));
	if (veth && l->peer_netnsid >= 0)
		set(o, "peerNetnsid", json_integer(l->peer_netnsid));
}

static json_t *link_json(const struct snapshot *s, const struct linkinfo *l)
{
	const char *oper = l->oper < ARRAY_SIZE(oper_names) ? oper_names[l->oper] : "unknown";
	json_t *o = json_object();
	char mac[MAC_TEXT_MAX];

	set(o, "name", json_string(l->name));
	set(o, "ifindex", json_integer(l->ifindex));
	set(o, "kind", json_string(l->kind));
	if (l->has_mac)
		set(o, "mac", json_string(mac_format(l->mac, mac)));
	set(o, "mtu", json_integer(l->mtu));
	set(o, "up", json_boolean(l->flags & IFF_UP));
	set(o, "operState", json_string(oper));
	if (*l->alias)
		set(o, "alias", json_string(l->alias));
	set_relations(o, s, l);
	set(o, "addresses", addresses_json(s, l->ifindex));
	if (l->has_tun)
		set(o, "tun", tun_json(&l->tun));
	return o;
}

/* tag NULL: every link */
static bool wanted(const struct linkinfo *l, const char *tag)
{
	return !tag || link_is_ours(l, tag) || net_bridge_is_ours(l, tag) ||
	       l2bridge_is_ours(l, tag);
}

static int read_links(int netns_fd, const char *tag, json_t **ret, struct err *err)
{
	_cleanup_(snapshot_done) struct snapshot s = {0};
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	int r = nlsock_open(netns_fd, &sk, err);
	json_t *list;

	if (r == 0)
		r = linkinfo_list(sk, &s.links, &s.n_links, err);
	if (r == 0)
		r = addr_list(sk, &s.addrs, &s.n_addrs, err);
	if (r < 0)
		return r;
	list = json_array();
	for (size_t i = 0; i < s.n_links; i++)
		if (wanted(&s.links[i], tag) &&
		    json_array_append_new(list, link_json(&s, &s.links[i])) < 0)
			abort();
	*ret = list;
	return 0;
}

int net_read_links(int netns_fd, json_t **ret, struct err *err)
{
	return read_links(netns_fd, NULL, ret, err);
}

int net_list_ours(const char *tag, json_t **ret, struct err *err)
{
	return read_links(-1, tag, ret, err);
}
