// SPDX-License-Identifier: Apache-2.0
/*
 * Differences from KubeVirt's result, all on purpose:
 * - the veth is made here, not by a CNI plugin before;
 * - the pod bridge's MAC is fixed, so that it can't change to a port's lower one;
 * - IPv6 is off on the pod's bridge, NIC and tap and on the host's veth end. They are wire: with it
 *   each would make itself a link-local address and send router solicitations that the guest and its
 *   network see. The dummy keeps its addresses; the guest's own IPv6 is bridged as ever;
 * - arp_ignore is set whether or not there is an IPv4 address to keep silent about: nothing in the
 *   pod's namespace has to answer ARP, and it needn't be remembered when an address comes later.
 */
#include "net/l2bridge.h"

#include "lib/mac.h"
#include "lib/util.h"
#include "net/addr.h"
#include "net/link.h"
#include "net/names.h"
#include "net/nlsock.h"
#include "net/sysctl.h"
#include "net/tap.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

struct wiring {
	const struct l2bridge_spec *spec;
	int netns_fd;
	struct nl_sock *pod; /* borrowed */
	struct pod_names names;
	struct linkinfo bridge; /* k6t-X, once made */
	int *tap_fds;		/* spec->queues of them once has_tap */
	bool has_tap;
};

static int check_spec(const struct l2bridge_spec *s, struct pod_names *ret, struct err *err)
{
	struct addr unused;
	int r = link_check_name(s->pod_ifname, err);

	if (r == 0)
		r = link_check_name(s->bridge, err);
	if (r == 0)
		r = link_check_name(s->host_ifname, err);
	if (r == 0)
		r = link_check_tag(s->tag, err);
	if (r == 0)
		r = link_check_mtu(s->mtu, err);
	if (r == 0)
		r = mac_check(s->pod_mac, err);
	for (const char *const *a = s->addresses; r == 0 && a && *a; a++)
		r = addr_parse(*a, &unused, err);
	if (r == 0 && names_derive(s->pod_ifname, ret) < 0)
		r = err_set(err, -EINVAL,
			    "pod link name '%s': must be at most 11 characters, or 'pod' and 1 to "
			    "11 more",
			    s->pod_ifname);
	if (r == 0 && (s->queues < 1 || s->queues > TAP_QUEUES_MAX))
		r = err_set(err, -EINVAL, "%u tap queues: must be 1 to %d", s->queues,
			    TAP_QUEUES_MAX);
	return r;
}

static int find_host_bridge(struct nl_sock *host, const struct l2bridge_spec *s,
			    struct linkinfo *ret, struct err *err)
{
	struct linkinfo l;
	int r = linkinfo_get(host, s->bridge, &l, err);

	if (r < 0)
		return r;
	if (!str_eq(l.kind, "bridge"))
		return err_set(err, -EINVAL, "link '%s' is no bridge but a %s", s->bridge,
			       *l.kind ? l.kind : "device");
	if (l.mtu != s->mtu)
		return err_set(
			err, -EINVAL,
			"bridge '%s' has MTU %u, wanted %u for the pod: they must be the same",
			s->bridge, l.mtu, s->mtu);
	*ret = l;
	return 0;
}

#define MAC_DOMAIN "net/l2bridge"

bool l2bridge_is_ours(const struct linkinfo *l, const char *tag)
{
	return str_eq(l->kind, "veth") && link_was_born_ours(l, MAC_DOMAIN, tag);
}

static int check_host_name(struct nl_sock *host, const struct l2bridge_spec *s, struct err *err)
{
	struct linkinfo l;
	int r = linkinfo_find(host, s->host_ifname, &l, err);

	if (r > 0 && !l2bridge_is_ours(&l, s->tag))
		return link_taken(&l, "the host's end of the pod's veth", "remove or rename it",
				  err);
	return r < 0 ? r : 0; /* one of ours that should not be there: the kernel says so */
}

static int settle_host_end(struct nl_sock *host, const struct l2bridge_spec *s, struct err *err)
{
	struct linkinfo l;
	int r = linkinfo_get(host, s->host_ifname, &l, err);

	if (r == 0)
		r = link_mark(host, &l, s->tag, err);
	if (r == 0)
		r = sysctl_set_ipv6(-1, l.name, "disable_ipv6", 1, err);
	return r < 0 ? r : link_set_up(host, &l, err);
}

/* What a CNI plugin would have done: the pod NIC, its other end a port of the network's bridge. */
static int make_veth(struct nl_sock *host, int netns_fd, const struct l2bridge_spec *s,
		     struct err *err)
{
	struct linkinfo bridge;
	uint8_t mac[6];
	struct link_new veth = {
		.name = s->host_ifname,
		.kind = "veth",
		.mac = mac,
		.mtu = s->mtu,
		.peer_name = s->pod_ifname,
		.peer_mac = s->pod_mac,
		.peer_netns_fd = netns_fd,
	};
	int r = find_host_bridge(host, s, &bridge, err);

	if (r == 0)
		r = check_host_name(host, s, err);
	if (r < 0)
		return r;
	link_own_mac(MAC_DOMAIN, s->host_ifname, s->tag, mac);
	veth.master = bridge.ifindex;
	return link_add(host, &veth, err);
}

static int ipv6_off(struct wiring *w, const char *name, struct err *err)
{
	return sysctl_set_ipv6(w->netns_fd, name, "disable_ipv6", 1, err);
}

static int pod_bridge(struct wiring *w, struct err *err)
{
	uint8_t mac[6];
	struct link_new new = {.name = w->names.bridge, .kind = "bridge", .mac = mac};
	int r;

	/* random as the kernel's own choice, but given, so that it stays */
	if (getrandom(mac, sizeof mac, 0) != sizeof mac)
		return err_errno(err, -errno, "make a MAC address");
	mac[0] = 0x02;
	r = link_add(w->pod, &new, err);
	if (r == 0)
		r = linkinfo_get(w->pod, new.name, &w->bridge, err);
	if (r == 0)
		r = link_set_mtu(w->pod, &w->bridge, w->spec->mtu, err);
	if (r == 0)
		r = ipv6_off(w, new.name, err);
	return r < 0 ? r : link_set_up(w->pod, &w->bridge, err);
}

static int pod_nic(struct wiring *w, struct err *err)
{
	struct linkinfo l;
	int r = linkinfo_get(w->pod, w->names.pod, &l, err);

	if (r == 0)
		r = link_rename(w->pod, &l, w->names.nic, err);
	if (r == 0)
		r = linkinfo_get(w->pod, w->names.nic, &l, err);
	/* the guest gets the address that the NIC had: two of it on one bridge would mislead it */
	if (r == 0)
		r = link_set_mac(w->pod, &l, w->bridge.mac, err);
	if (r == 0)
		r = link_set_master(w->pod, &l, w->bridge.ifindex, err);
	if (r == 0)
		r = ipv6_off(w, l.name, err);
	if (r == 0)
		r = addr_flush(w->pod, &l, NULL, err);
	if (r == 0)
		r = link_set_up(w->pod, &l, err);
	/* else a frame of the guest that comes back would move the guest to this port (#1620) */
	return r < 0 ? r : link_set_learning(w->pod, &l, /* on= */ false, err);
}

static int pod_tap(struct wiring *w, struct err *err)
{
	const struct tap_spec tap = {
		.name = w->names.tap,
		.queues = w->spec->queues,
		.owner = w->spec->owner,
		.group = w->spec->group,
	};
	struct linkinfo l;
	int r = tap_create(w->netns_fd, &tap, w->tap_fds, err);

	if (r < 0)
		return r;
	w->has_tap = true;
	r = linkinfo_get(w->pod, tap.name, &l, err);
	if (r == 0)
		r = link_set_mtu(w->pod, &l, w->spec->mtu, err);
	if (r == 0)
		r = link_set_master(w->pod, &l, w->bridge.ifindex, err);
	if (r == 0)
		r = ipv6_off(w, l.name, err);
	return r < 0 ? r : link_set_up(w->pod, &l, err);
}

static int pod_dummy(struct wiring *w, struct err *err)
{
	const struct l2bridge_spec *s = w->spec;
	const struct link_new new = {
		.name = w->names.pod, .kind = "dummy", .mac = s->pod_mac, .mtu = s->mtu};
	bool keep = s->addresses && *s->addresses;
	struct err why = {0};
	struct linkinfo l;
	int r = link_add(w->pod, &new, &why);

	if (r == -EOPNOTSUPP && !keep)
		return 0; /* some kernels lack it, and it would carry nothing */
	if (r == -EOPNOTSUPP)
		return err_set(err, r,
			       "the kernel has no dummy driver, which the pod's addresses (%s, …) "
			       "need: load it (modprobe dummy) or give the pod no addresses",
			       s->addresses[0]);
	if (r < 0)
		return err_set(err, r, "%s", why.msg);
	r = linkinfo_get(w->pod, new.name, &l, err);
	for (size_t i = 0; r == 0 && keep && s->addresses[i]; i++)
		r = addr_add(w->pod, &l, s->addresses[i], err);
	return r;
}

static int pod_arp(struct wiring *w, struct err *err)
{
	return sysctl_set(w->netns_fd, "ipv4/conf/all/arp_ignore", 1, err);
}

static int check_link(struct nl_sock *sk, const char *name, const struct linkinfo *want,
		      struct err *err)
{
	char got_mac[MAC_TEXT_MAX], want_mac[MAC_TEXT_MAX];
	struct linkinfo l;
	int r = linkinfo_get(sk, name, &l, err);

	if (r < 0)
		return r;
	if (l.mtu != want->mtu)
		return err_set(err, -EIO, "link '%s': the kernel reports MTU %u, wanted %u", name,
			       l.mtu, want->mtu);
	if (l.master != want->master || l.learning != want->learning)
		return err_set(err, -EIO,
			       "link '%s': the kernel reports master %d and learning %d, wanted %d "
			       "and %d",
			       name, l.master, l.learning, want->master, want->learning);
	if (!(l.flags & IFF_UP))
		return err_set(err, -EIO, "link '%s': the kernel reports it down, wanted up", name);
	if (want->has_mac && memcmp(l.mac, want->mac, sizeof l.mac) != 0)
		return err_set(err, -EIO, "link '%s': the kernel reports MAC %s, wanted %s", name,
			       mac_format(l.mac, got_mac), mac_format(want->mac, want_mac));
	return 0;
}

static int pod_check(struct wiring *w, struct err *err)
{
	struct linkinfo bridge = w->bridge, nic = w->bridge, tap = {0};
	int r;

	bridge.mtu = nic.mtu = tap.mtu = w->spec->mtu;
	nic.master = tap.master = w->bridge.ifindex;
	nic.learning = 0;
	tap.learning = 1;
	r = check_link(w->pod, w->names.bridge, &bridge, err);
	if (r == 0)
		r = check_link(w->pod, w->names.nic, &nic, err);
	return r < 0 ? r : check_link(w->pod, w->names.tap, &tap, err);
}

/* In this order; what they make goes with the pod's namespace, the tap's fds excepted. */
static const struct {
	const char *name;
	int (*run)(struct wiring *w, struct err *err);
} pod_steps[] = {
	{"pod bridge", pod_bridge}, {"pod NIC", pod_nic},    {"tap", pod_tap},
	{"dummy", pod_dummy},	    {"arp_ignore", pod_arp}, {"read back", pod_check},
};

static int wire_pod(struct wiring *w, struct err *err)
{
	_cleanup_nlsock_ struct nl_sock *pod = NULL;
	int r = nlsock_open(w->netns_fd, &pod, err);

	w->pod = pod;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(pod_steps); i++) {
		r = pod_steps[i].run(w, err);
		if (r < 0)
			err_prefix(err, "%s", pod_steps[i].name);
	}
	for (unsigned i = 0; r < 0 && w->has_tap && i < w->spec->queues; i++)
		(void)fd_close(w->tap_fds[i]);
	return r;
}

/* The host's end as the kernel reports it now that the pod's end is up, too. */
static int check_host(struct nl_sock *host, const struct l2bridge_spec *s, struct err *err)
{
	struct linkinfo bridge, want = {.mtu = s->mtu, .learning = 1};
	int r = find_host_bridge(host, s, &bridge, err);

	if (r < 0)
		return r;
	want.master = bridge.ifindex;
	return check_link(host, s->host_ifname, &want, err);
}

/* Marked or not: this call made it. */
static void drop_host_end(struct nl_sock *host, const struct l2bridge_spec *s)
{
	struct linkinfo l;

	/* no err: the first error is the one to report */
	if (linkinfo_find(host, s->host_ifname, &l, NULL) == 1)
		(void)link_delete(host, &l, NULL);
}

int l2bridge_setup(int netns_fd, const struct l2bridge_spec *spec, int *ret_tap_fds,
		   struct err *err)
{
	_cleanup_nlsock_ struct nl_sock *host = NULL;
	int fds[TAP_QUEUES_MAX] = {0};
	struct wiring w = {.spec = spec, .netns_fd = netns_fd, .tap_fds = fds};
	bool made = false;
	int r = check_spec(spec, &w.names, err);

	if (r == 0)
		r = nlsock_open(-1, &host, err);
	if (r == 0)
		r = make_veth(host, netns_fd, spec, err);
	made = r == 0;
	if (r == 0)
		r = settle_host_end(host, spec, err);
	if (r == 0)
		r = check_host(host, spec, err);
	if (r == 0)
		r = wire_pod(&w, err);
	if (r < 0) {
		if (made)
			drop_host_end(host, spec);
		err_prefix(err, "l2bridge '%s'", spec->pod_ifname);
		return r;
	}
	memcpy(ret_tap_fds, fds, spec->queues * sizeof *fds);
	return 0;
}

int l2bridge_teardown(const struct l2bridge_spec *spec, struct err *err)
{
	_cleanup_nlsock_ struct nl_sock *host = NULL;
	struct err why = {0};
	struct linkinfo l;
	int r = nlsock_open(-1, &host, err);

	if (r == 0)
		r = linkinfo_find(host, spec->host_ifname, &l, err);
	if (r <= 0)
		return r;
	if (!l2bridge_is_ours(&l, spec->tag))
		return err_set(err, -EPERM, "link '%s' (%s, alias '%s') is not ours: kept", l.name,
			       *l.kind ? l.kind : "device", l.alias);
	r = link_delete(host, &l, &why);
	/* it may go at this very moment with the pod's namespace */
	if (r < 0 && r != -ENODEV)
		return err_set(err, r, "%s", why.msg);
	return 0;
}
