// SPDX-License-Identifier: Apache-2.0
/*
 * The alias can't be set in the request that makes a link, the MAC can. So a bridge that was made
 * but not yet marked when the process died is known by its MAC, which nobody else would choose.
 */
#include "net/bridge.h"

#include "lib/util.h"
#include "net/addr.h"
#include "net/link.h"
#include "net/nlsock.h"
#include "net/sysctl.h"

#include <errno.h>
#include <sys/socket.h>

#define MAC_DOMAIN "net/bridge"

bool net_bridge_is_ours(const struct linkinfo *l, const char *tag)
{
	return str_eq(l->kind, "bridge") && link_was_born_ours(l, MAC_DOMAIN, tag);
}

static int count_ports(struct nl_sock *sk, int ifindex, struct err *err)
{
	_cleanup_free_ struct linkinfo *links = NULL;
	size_t n = 0;
	int ports = 0;
	int r = linkinfo_list(sk, &links, &n, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		ports += links[i].master == ifindex;
	return ports;
}

/* 1 when `gateway` (canonical or NULL) is the only address that somebody set, else 0 */
static int has_just(struct nl_sock *sk, const struct linkinfo *l, const char *gateway,
		    struct err *err)
{
	_cleanup_free_ struct addr *addrs = NULL;
	bool found = !gateway, other = false;
	size_t n = 0;
	int r = addr_list(sk, &addrs, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (addrs[i].ifindex != l->ifindex)
			continue;
		if (str_eq(addrs[i].text, gateway))
			found = true;
		else if (!addrs[i].link_local)
			other = true;
	}
	return r < 0 ? r : found && !other;
}

static int check_in_use(struct nl_sock *sk, const struct linkinfo *l,
			const struct net_bridge_spec *spec, const char *gateway, struct err *err)
{
	int ports = count_ports(sk, l->ifindex, err);
	int same = ports > 0 ? has_just(sk, l, gateway, err) : 1;

	if (ports < 0 || same < 0)
		return ports < 0 ? ports : same;
	if (ports > 0 && l->mtu != spec->mtu)
		return err_set(
			err, -EBUSY,
			"bridge '%s' has MTU %u and %d ports, wanted MTU %u: stop the VMs on "
			"it first",
			spec->name, l->mtu, ports, spec->mtu);
	if (!same)
		return err_set(err, -EBUSY,
			       "bridge '%s' has %d ports and another address than the wanted %s: "
			       "stop the VMs on it first",
			       spec->name, ports, gateway ? gateway : "none");
	return 0;
}

static int find_or_make(struct nl_sock *sk, const struct net_bridge_spec *spec,
			struct linkinfo *ret, struct err *err)
{
	uint8_t mac[6];
	struct link_new new = {.name = spec->name, .kind = "bridge", .mac = mac};
	int r = linkinfo_find(sk, spec->name, ret, err);

	if (r < 0)
		return r;
	if (r > 0 && !net_bridge_is_ours(ret, spec->tag))
		return link_taken(ret, "the network's bridge",
				  "remove or rename it, or give the network another bridge name",
				  err);
	if (r > 0)
		return 0;
	link_own_mac(MAC_DOMAIN, spec->name, spec->tag, mac);
	r = link_add(sk, &new, err);
	return r < 0 ? r : linkinfo_get(sk, spec->name, ret, err);
}

/*
 * Without an IPv6 gateway the host speaks no IPv6 there: a link-local address that nobody asked for
 * would let guests reach the host's daemons, and a guest's router advertisement would give the host
 * a default route. With one, advertisements stay unheard. Guests' IPv6 among themselves is bridged
 * all the same.
 */
static int set_ipv6(const char *name, bool wanted, struct err *err)
{
	int r = sysctl_set_ipv6(-1, name, "accept_ra", 0, err);

	return r < 0 ? r : sysctl_set_ipv6(-1, name, "disable_ipv6", !wanted, err);
}

static int drop_other_addresses(struct nl_sock *sk, const struct linkinfo *l, const char *keep,
				struct err *err)
{
	int r = has_just(sk, l, keep, err);

	if (r != 0)
		return r < 0 ? r : 0;
	r = addr_flush(sk, l, keep, err);
	/* a link-local address that is wanted went, too: set_ipv6 makes it anew, but only from off */
	return r < 0 ? r : sysctl_set_ipv6(-1, l->name, "disable_ipv6", 1, err);
}

static int settle(struct nl_sock *sk, const struct linkinfo *l, const struct net_bridge_spec *spec,
		  const struct addr *gateway, struct err *err)
{
	const char *keep = gateway ? gateway->text : NULL;
	uint8_t mac[6];
	int r = 0;

	link_own_mac(MAC_DOMAIN, spec->name, spec->tag, mac);
	if (!*l->alias)
		r = link_mark(sk, l, spec->tag, err);
	/* set, also when equal: only then does the bridge not follow its ports' MTU and MAC */
	if (r == 0)
		r = link_set_mtu(sk, l, spec->mtu, err);
	if (r == 0)
		r = link_set_mac(sk, l, mac, err);
	if (r == 0)
		r = drop_other_addresses(sk, l, keep, err);
	if (r == 0)
		r = set_ipv6(spec->name, gateway && gateway->family == AF_INET6, err);
	if (r == 0)
		r = link_set_up(sk, l, err);
	/* last: what went before may have taken it along */
	if (r == 0 && keep)
		r = addr_add(sk, l, keep, err);
	return r;
}

static int check_result(struct nl_sock *sk, const struct net_bridge_spec *spec, struct err *err)
{
	struct linkinfo l;
	int r = linkinfo_get(sk, spec->name, &l, err);

	if (r < 0)
		return r;
	if (l.mtu != spec->mtu)
		return err_set(err, -EIO, "bridge '%s': the kernel reports MTU %u, wanted %u",
			       spec->name, l.mtu, spec->mtu);
	return 0;
}

int net_bridge_ensure(const struct net_bridge_spec *spec, struct err *err)
{
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	struct addr gateway;
	struct linkinfo l;
	int r = link_check_name(spec->name, err);

	if (r == 0)
		r = link_check_tag(spec->tag, err);
	if (r == 0)
		r = link_check_mtu(spec->mtu, err);
	if (r == 0 && spec->gateway)
		r = addr_parse(spec->gateway, &gateway, err);
	if (r == 0)
		r = nlsock_open(-1, &sk, err);
	if (r == 0)
		r = find_or_make(sk, spec, &l, err);
	if (r == 0)
		r = check_in_use(sk, &l, spec, spec->gateway ? gateway.text : NULL, err);
	if (r == 0)
		r = settle(sk, &l, spec, spec->gateway ? &gateway : NULL, err);
	return r < 0 ? r : check_result(sk, spec, err);
}

int net_bridge_ports(const char *name, struct err *err)
{
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	struct linkinfo l = {0};
	int r = nlsock_open(-1, &sk, err);

	if (r == 0)
		r = linkinfo_get(sk, name, &l, err);
	return r < 0 ? r : count_ports(sk, l.ifindex, err);
}

int net_bridge_remove(const char *name, const char *tag, struct err *err)
{
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	struct linkinfo l;
	int r = nlsock_open(-1, &sk, err);

	if (r == 0)
		r = linkinfo_find(sk, name, &l, err);
	if (r <= 0)
		return r;
	if (!net_bridge_is_ours(&l, tag))
		return err_set(err, -EPERM, "link '%s' (%s, alias '%s') is not ours: kept", name,
			       *l.kind ? l.kind : "device", l.alias);
	r = count_ports(sk, l.ifindex, err);
	if (r != 0)
		return r < 0 ? r : 1;
	return link_delete(sk, &l, err);
}
