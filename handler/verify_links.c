// SPDX-License-Identifier: Apache-2.0
/* The wires of each interface, link by link as net/l2bridge.h draws them. */
#include "handler/verify_internal.h"

#include "lib/mac.h"
#include "net/addr.h"
#include "net/names.h"

#include <stdio.h>

/* Without a network namespace of its own the pod has no wires. */
static unsigned n_nics(const struct verify *v)
{
	return v->p->plan->isolation.net ? v->p->plan->n_nics : 0;
}

static void names_of(const struct plan_nic *nic, struct pod_names *ret)
{
	char pod[IFNAMSIZ];

	(void)names_derive(names_pod_nic(nic->name, /* is_pod_network= */ false, pod), ret);
}

/* side: "pod" or "host" */
static const json_t *find_link(const struct verify *v, const char *side, const char *name)
{
	return json_find(json_object_get(json_object_get(v->seen, "links"), side), "name", name);
}

/* The link of that kind, up, with the MTU and (NULL: none) master; NULL when it isn't there. */
static const json_t *check_link(struct verify *v, const char *side, const char *name,
				const char *kind, const char *master, const struct plan_nic *nic)
{
	const json_t *link = find_link(v, side, name);

	if (!link) {
		verify_differ(v, json_string(kind), NULL, "%s link %s (interface %s)", side, name,
			      nic->name);
		return NULL;
	}
	verify_equal(v, json_string(kind), json_object_get(link, "kind"), "%s link %s kind", side,
		     name);
	verify_equal(v, json_integer(nic->mtu), json_object_get(link, "mtu"), "%s link %s MTU",
		     side, name);
	verify_equal(v, json_true(), json_object_get(link, "up"), "%s link %s up", side, name);
	verify_equal(v, master ? json_string(master) : json_null(), json_object_get(link, "master"),
		     "%s link %s master", side, name);
	return link;
}

static void no_addresses(struct verify *v, const json_t *link, const char *side, const char *name)
{
	verify_equal(v, json_array(), json_object_get(link, "addresses"), "%s link %s addresses",
		     side, name);
}

static void learning(struct verify *v, const json_t *link, const char *side, const char *name,
		     bool on)
{
	verify_equal(v, json_boolean(on), json_object_get(link, "learning"), "%s link %s learning",
		     side, name);
}

void verify_pod_bridges(struct verify *v)
{
	for (unsigned i = 0; i < n_nics(v); i++) {
		struct pod_names names = {0};
		const json_t *link;

		names_of(&v->p->plan->nics[i], &names);
		link = check_link(v, "pod", names.bridge, "bridge", NULL, &v->p->plan->nics[i]);
		if (link)
			no_addresses(v, link, "pod", names.bridge);
	}
}

/* The guest's MAC must not be the NIC's, too: the bridge would take the guest for local. */
void verify_pod_nics(struct verify *v)
{
	for (unsigned i = 0; i < n_nics(v); i++) {
		const struct plan_nic *nic = &v->p->plan->nics[i];
		struct pod_names names = {0};
		char mac[MAC_TEXT_MAX];
		const json_t *link;

		names_of(nic, &names);
		link = check_link(v, "pod", names.nic, "veth", names.bridge, nic);
		if (!link)
			continue;
		no_addresses(v, link, "pod", names.nic);
		learning(v, link, "pod", names.nic, /* on= */ false);
		if (verify_is(link, "mac", mac_format(nic->mac, mac)))
			verify_differ(v, json_string("another one than the guest's"),
				      json_object_get(link, "mac"), "pod link %s MAC", names.nic);
	}
}

void verify_taps(struct verify *v)
{
	for (unsigned i = 0; i < n_nics(v); i++) {
		const struct plan_nic *nic = &v->p->plan->nics[i];
		struct pod_names names = {0};
		const json_t *link, *tun;

		names_of(nic, &names);
		link = check_link(v, "pod", names.tap, "tun", names.bridge, nic);
		if (!link)
			continue;
		no_addresses(v, link, "pod", names.tap);
		learning(v, link, "pod", names.tap, /* on= */ true);
		tun = json_object_get(link, "tun");
		verify_equal(v, json_string("tap"), json_object_get(tun, "type"),
			     "pod link %s type", names.tap);
		verify_equal(v, json_integer(v->p->host_id), json_object_get(tun, "owner"),
			     "pod link %s owner", names.tap);
		verify_equal(v, json_integer(v->p->host_id), json_object_get(tun, "group"),
			     "pod link %s group", names.tap);
		verify_equal(v, json_integer(nic->queues), json_object_get(tun, "queues"),
			     "pod link %s queues", names.tap);
		verify_equal(v, json_true(), json_object_get(tun, "vnetHdr"), "pod link %s vnetHdr",
			     names.tap);
	}
}

/* One open /dev/vhost-net for each queue of the interfaces that are to have it, and no more. */
void verify_vhost(struct verify *v)
{
	unsigned queues = 0;

	for (unsigned i = 0; i < n_nics(v); i++)
		queues += v->p->plan->nics[i].vhost ? v->p->plan->nics[i].queues : 0;
	verify_equal(v, json_integer(queues), json_object_get(v->seen, "vhostQueues"),
		     "QEMU's vhost-net queues");
}

/* Not every kernel has the driver; where the link is, it must keep the MAC and stay silent. */
void verify_dummies(struct verify *v)
{
	for (unsigned i = 0; i < n_nics(v); i++) {
		const struct plan_nic *nic = &v->p->plan->nics[i];
		struct pod_names names = {0};
		char mac[MAC_TEXT_MAX];
		const json_t *link;

		names_of(nic, &names);
		link = find_link(v, "pod", names.pod);
		if (!link)
			continue;
		verify_equal(v, json_string("dummy"), json_object_get(link, "kind"),
			     "pod link %s kind", names.pod);
		verify_equal(v, json_false(), json_object_get(link, "up"), "pod link %s up",
			     names.pod);
		verify_equal(v, json_string(mac_format(nic->mac, mac)),
			     json_object_get(link, "mac"), "pod link %s MAC", names.pod);
	}
}

static bool is_planned(const struct verify *v, const char *name)
{
	for (unsigned i = 0; i < v->p->plan->n_nics; i++) {
		struct pod_names names = {0};

		names_of(&v->p->plan->nics[i], &names);
		if (str_eq(name, names.pod) || str_eq(name, names.bridge) ||
		    str_eq(name, names.nic) || str_eq(name, names.tap))
			return true;
	}
	return str_eq(name, "lo");
}

void verify_no_other_links(struct verify *v)
{
	const json_t *link;
	size_t i;

	json_array_foreach (json_get(v->seen, "links.pod"), i, link)
		if (!is_planned(v, json_str(link, "name")))
			verify_differ(v, json_null(), json_object_get(link, "kind"),
				      "a link of no interface of the VM, %.20s,",
				      json_str(link, "name"));
}

/* Its other end must be this pod's NIC. Ifindexes are unique in a namespace only: both sides must say so. */
void verify_host_veths(struct verify *v)
{
	for (unsigned i = 0; i < n_nics(v); i++) {
		const struct link_names *host = &v->p->links[i];
		const struct plan_nic *nic = &v->p->plan->nics[i];
		struct pod_names names = {0};
		const json_t *link, *peer;

		names_of(nic, &names);
		link = check_link(v, "host", host->veth, "veth", host->bridge, nic);
		peer = find_link(v, "pod", names.nic);
		if (!link || !peer)
			continue;
		no_addresses(v, link, "host", host->veth);
		verify_equal(v, json_incref(json_object_get(peer, "ifindex")),
			     json_object_get(link, "peerIfindex"), "host link %s other end",
			     host->veth);
		verify_equal(v, json_incref(json_object_get(link, "ifindex")),
			     json_object_get(peer, "peerIfindex"), "pod link %s other end",
			     names.nic);
	}
}

/* Written as the kernel writes it, which for IPv6 may not be how the network's definition does. */
static bool has_address(const json_t *link, const char *address)
{
	struct err err = {0};
	struct addr addr;

	return addr_parse(address, &addr, &err) == 0 &&
	       verify_listed(json_object_get(link, "addresses"), addr.text);
}

void verify_host_bridges(struct verify *v)
{
	for (unsigned i = 0; i < n_nics(v); i++) {
		const char *name = v->p->links[i].bridge;
		const struct plan_nic *nic = &v->p->plan->nics[i];
		const json_t *link = check_link(v, "host", name, "bridge", NULL, nic);

		if (link && nic->gateway && !has_address(link, nic->gateway))
			verify_differ(v, json_string(nic->gateway),
				      json_object_get(link, "addresses"), "host link %s addresses",
				      name);
	}
}

/* The name by which others find it; its processes keep the namespace without it, too. */
void verify_netns_pin(struct verify *v)
{
	if (v->p->plan->isolation.net)
		verify_equal(v, json_true(), json_object_get(v->seen, "netnsPinned"),
			     "network namespace pinned below run/netns");
}
