// SPDX-License-Identifier: Apache-2.0
/*
 * Frames through the wiring: written to a tap as a guest would, with a virtio-net header, and taken
 * from a packet socket on the host's bridge or from another pod's tap; and the other way.
 * A frame that must not arrive is followed by one that must: what is seen first tells.
 */
#include "net/link.h"
#include "net/nlsock.h"
#include "net/sysctl.h"
#include "tests/unit/net/pods.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <netinet/ip6.h>
#include <poll.h>
#include <sys/socket.h>

#define TYPE	    0x88b5 /* IEEE 802: for local experiments */
#define FRAME_MAX   9100
#define RESEND_MS   20 /* ports forward once the kernel's link watch has seen them: send again */
#define HEADER_SIZE sizeof(struct virtio_net_hdr)

static const uint8_t everyone[6] = {255, 255, 255, 255, 255, 255};
static const uint8_t host_mac[6] = {0x02, 0xbb, 0, 0, 0, 1};
static const uint8_t guest1[6] = {0x02, 0xaa, 0, 0, 0, 1}; /* pod_spec(1)'s */
static const uint8_t guest2[6] = {0x02, 0xaa, 0, 0, 0, 2};

struct frame {
	size_t len;
	uint8_t bytes[FRAME_MAX];
};

/* an Ethernet header and `payload` bytes, the first of which is `mark` */
static struct frame frame(const uint8_t *dst, const uint8_t *src, uint8_t mark, size_t payload)
{
	struct frame f = {.len = ETHER_HDR_LEN + payload};

	assert_true(f.len <= sizeof f.bytes);
	memcpy(f.bytes, dst, 6);
	memcpy(f.bytes + 6, src, 6);
	f.bytes[12] = TYPE >> 8;
	f.bytes[13] = TYPE & 0xff;
	for (size_t i = 0; i < payload; i++)
		f.bytes[ETHER_HDR_LEN + i] = (uint8_t)(mark + i);
	return f;
}

/* --- the two kinds of ends ---------------------------------------------------------------------*/

struct end {
	int fd;
	size_t header; /* bytes in front of each frame */
};

static struct end tap_end(const struct pod *p, unsigned queue)
{
	return (struct end){.fd = p->taps[queue], .header = HEADER_SIZE};
}

/* a packet socket on the host's bridge, as a daemon of the host would use; the caller closes fd */
static struct end host_end(void)
{
	struct sockaddr_ll sll = {.sll_family = AF_PACKET, .sll_protocol = htons(TYPE)};
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	struct err err = {0};
	struct linkinfo l;
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(TYPE));

	assert_true(fd >= 0);
	assert_ok(&err, nlsock_open(-1, &sk, &err));
	assert_ok(&err, linkinfo_get(sk, BR, &l, &err));
	sll.sll_ifindex = l.ifindex;
	assert_int_equal(bind(fd, (struct sockaddr *)&sll, sizeof sll), 0);
	return (struct end){.fd = fd};
}

static void send_frame(struct end e, const struct frame *f)
{
	uint8_t buf[HEADER_SIZE + FRAME_MAX] = {0};

	memcpy(buf + e.header, f->bytes, f->len);
	assert_int_equal(write(e.fd, buf, e.header + f->len), e.header + f->len);
}

/* The next frame of our type within `ms`; false when none came. */
static bool receive(struct end e, int ms, struct frame *ret)
{
	uint8_t buf[HEADER_SIZE + FRAME_MAX];
	int64_t until = lab_now_ms() + ms;
	struct pollfd p = {.fd = e.fd, .events = POLLIN};

	for (;;) {
		ssize_t n = read(e.fd, buf, sizeof buf);
		int64_t left = until - lab_now_ms();

		if (n >= (ssize_t)(e.header + ETHER_HDR_LEN) && buf[e.header + 12] == TYPE >> 8 &&
		    buf[e.header + 13] == (TYPE & 0xff)) {
			ret->len = (size_t)n - e.header;
			memcpy(ret->bytes, buf + e.header, ret->len);
			return true;
		}
		if (n >= 0)
			continue; /* of somebody else */
		assert_int_equal(errno, EAGAIN);
		if (left <= 0)
			return false;
		(void)poll(&p, 1, (int)left);
	}
}

static bool is_same(const struct frame *a, const struct frame *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

/* Send until it arrives whole. */
static void passes(struct end from, struct end to, const struct frame *f)
{
	int64_t until = lab_now_ms() + LAB_PATIENCE_MS;
	struct frame got;

	while (lab_now_ms() < until) {
		send_frame(from, f);
		while (receive(to, RESEND_MS, &got))
			if (is_same(&got, f))
				return;
	}
	fail_msg("a frame of %zu bytes never arrived", f->len);
}

/*
 * On a path that is open: the first is swallowed, the second arrives. Neither may have been sent
 * before: copies of earlier frames may still be under way and are passed over.
 */
static void swallowed(struct end from, struct end to, const struct frame *lost,
		      const struct frame *fence)
{
	struct frame got;

	send_frame(from, lost);
	send_frame(from, fence);
	do
		assert_true(receive(to, LAB_PATIENCE_MS, &got));
	while (!is_same(&got, lost) && !is_same(&got, fence));
	assert_true(is_same(&got, fence));
}

/* --- tests -------------------------------------------------------------------------------------*/

static void both_ways_at(unsigned mtu)
{
	struct l2bridge_spec spec = pod_spec(1, mtu);
	struct frame f, fence;
	struct end host, tap;
	struct pod p;

	host_bridge(mtu, NULL);
	pod_up(&p, &spec);
	host = host_end();
	tap = tap_end(&p, 0);
	f = frame(everyone, guest1, 1, 46);
	passes(tap, host, &f);
	f = frame(guest1, host_mac, 2, 46);
	passes(host, tap, &f);
	/* as large as the MTU says: whole, both ways */
	f = frame(everyone, guest1, 3, mtu);
	passes(tap, host, &f);
	f = frame(guest1, host_mac, 4, mtu);
	passes(host, tap, &f);
	/* larger (the kernel leaves room for a VLAN tag): lost on the way, not cut */
	f = frame(everyone, guest1, 5, mtu + 5);
	fence = frame(everyone, guest1, 6, 46);
	swallowed(tap, host, &f, &fence);
	(void)fd_close(host.fd);
	pod_down(&p);
	host_bridge_remove();
}

static void overlay_and_jumbo_mtu(void **state)
{
	(void)state;
	both_ways_at(1450);
	both_ways_at(9000);
}

static void two_pods(void **state)
{
	struct l2bridge_spec one = pod_spec(1, 1500), two = pod_spec(2, 1500);
	struct end host, tap1, tap2;
	struct frame f, fence;
	struct pod p1, p2;

	(void)state;
	host_bridge(1500, NULL);
	pod_up(&p1, &one);
	pod_up(&p2, &two);
	host = host_end();
	tap1 = tap_end(&p1, 0);
	tap2 = tap_end(&p2, 0);
	f = frame(everyone, guest1, 1, 46);
	passes(tap1, tap2, &f);
	f = frame(guest1, guest2, 2, 46);
	passes(tap2, tap1, &f);
	f = frame(guest2, guest1, 3, 46);
	passes(tap1, tap2, &f);
	/* the host hears nothing of what is for a pod */
	f = frame(guest2, guest1, 4, 46);
	fence = frame(everyone, guest1, 5, 46);
	swallowed(tap1, host, &f, &fence);
	(void)fd_close(host.fd);
	pod_down(&p1);
	pod_down(&p2);
	host_bridge_remove();
}

static void each_queue_carries(void **state)
{
	struct l2bridge_spec spec = pod_spec(1, 1500);
	struct end host;
	struct frame f;
	struct pod p;

	(void)state;
	spec.queues = 4;
	host_bridge(1500, NULL);
	pod_up(&p, &spec);
	host = host_end();
	for (unsigned q = 0; q < 4; q++) {
		f = frame(everyone, guest1, (uint8_t)q, 46);
		passes(tap_end(&p, q), host, &f);
	}
	(void)fd_close(host.fd);
	pod_down(&p);
	host_bridge_remove();
}

static void set_learning(const struct pod *p, const char *port, bool on)
{
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	struct err err = {0};
	struct linkinfo l;

	assert_ok(&err, nlsock_open(p->netns, &sk, &err));
	assert_ok(&err, linkinfo_get(sk, port, &l, &err));
	assert_ok(&err, link_set_learning(sk, &l, on, &err));
}

/*
 * Field case N6: a frame with the guest's own address as source comes back to the pod (a loop, a
 * reflector). If the pod's bridge learned from it, frames for the guest would stay outside.
 */
static void own_frames_that_come_back(void **state)
{
	struct frame back = frame(everyone, guest1, 1, 46), to_guest, fence;
	struct l2bridge_spec spec = pod_spec(1, 1500);
	struct end host, tap;
	struct frame out;
	struct pod p;

	(void)state;
	host_bridge(1500, NULL);
	pod_up(&p, &spec);
	host = host_end();
	tap = tap_end(&p, 0);
	out = frame(everyone, guest1, 2, 46);
	to_guest = frame(guest1, host_mac, 3, 46);
	fence = frame(everyone, host_mac, 4, 46);

	passes(tap, host, &out);
	passes(host, tap, &to_guest);
	passes(host, tap, &back);
	passes(host, tap, &to_guest);

	/* the same with learning on, as it was before: so it is this flag that does it */
	set_learning(&p, "eth0-nic", true);
	passes(host, tap, &back);
	to_guest = frame(guest1, host_mac, 5, 46);
	swallowed(host, tap, &to_guest, &fence);
	(void)fd_close(host.fd);
	pod_down(&p);
	host_bridge_remove();
}

/* A router advertisement for fd77::/64 from a guest, to all nodes. */
static struct frame router_advertisement(void)
{
	static const uint8_t all_nodes_mac[6] = {0x33, 0x33, 0, 0, 0, 1};
	struct {
		struct ip6_hdr ip;
		struct nd_router_advert ra;
		struct nd_opt_prefix_info prefix;
	} m = {0};
	struct frame f = {.len = ETHER_HDR_LEN + sizeof m};
	const uint8_t *p = (const uint8_t *)&m;
	uint32_t sum;

	m.ip.ip6_vfc = 6 << 4;
	m.ip.ip6_plen = htons(sizeof m.ra + sizeof m.prefix);
	m.ip.ip6_nxt = IPPROTO_ICMPV6;
	m.ip.ip6_hlim = 255;
	assert_int_equal(inet_pton(AF_INET6, "fe80::aa", &m.ip.ip6_src), 1);
	assert_int_equal(inet_pton(AF_INET6, "ff02::1", &m.ip.ip6_dst), 1);
	m.ra.nd_ra_type = ND_ROUTER_ADVERT;
	m.ra.nd_ra_router_lifetime = htons(1800);
	m.prefix.nd_opt_pi_type = ND_OPT_PREFIX_INFORMATION;
	m.prefix.nd_opt_pi_len = sizeof m.prefix / 8;
	m.prefix.nd_opt_pi_prefix_len = 64;
	m.prefix.nd_opt_pi_flags_reserved = ND_OPT_PI_FLAG_ONLINK | ND_OPT_PI_FLAG_AUTO;
	m.prefix.nd_opt_pi_valid_time = m.prefix.nd_opt_pi_preferred_time = htonl(3600);
	assert_int_equal(inet_pton(AF_INET6, "fd77::", &m.prefix.nd_opt_pi_prefix), 1);
	/* RFC 8200, 8.1: source, destination, length, next header, then the message */
	sum = IPPROTO_ICMPV6 + sizeof m.ra + sizeof m.prefix;
	for (size_t i = offsetof(struct ip6_hdr, ip6_src); i < sizeof m; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	m.ra.nd_ra_cksum = htons((uint16_t)~sum);

	memcpy(f.bytes, all_nodes_mac, 6);
	memcpy(f.bytes + 6, guest1, 6);
	f.bytes[12] = ETHERTYPE_IPV6 >> 8;
	f.bytes[13] = ETHERTYPE_IPV6 & 0xff;
	memcpy(f.bytes + ETHER_HDR_LEN, &m, sizeof m);
	return f;
}

/* addresses of the host's bridge, as jansson text */
static char *bridge_addresses(void)
{
	json_t *links = lab_links(-1);
	char *text = json_dumps(json_object_get(lab_link(links, BR), "addresses"), 0);

	json_decref(links);
	return text;
}

/* Frames of the guest's IPv6 pass; neither the host nor the pod takes an address from them. */
static void router_advertisements(void **state)
{
	struct frame ra = router_advertisement(), fence = frame(everyone, guest1, 1, 46);
	struct l2bridge_spec one = pod_spec(1, 1500), two = pod_spec(2, 1500);
	_cleanup_free_ char *quiet = NULL;
	int64_t until = lab_now_ms() + LAB_PATIENCE_MS;
	struct end host, tap, tap2;
	struct err err = {0};
	bool heard = false;
	struct pod p, p2;
	json_t *links;

	(void)state;
	host_bridge(1500, "10.9.0.254/24");
	pod_up(&p, &one);
	pod_up(&p2, &two);
	host = host_end();
	tap = tap_end(&p, 0);
	tap2 = tap_end(&p2, 0);
	passes(tap, host, &fence);
	passes(tap, tap2, &fence);
	send_frame(tap, &ra);
	fence = frame(everyone, guest1, 2, 46);
	passes(tap, host, &fence);
	passes(tap, tap2, &fence);
	quiet = bridge_addresses();
	assert_string_equal(quiet, "[\"10.9.0.254/24\"]");
	links = lab_links(p2.netns);
	lab_expect(links, "k6t-eth0", "{'addresses':[]}");
	lab_expect(links, "eth0-nic", "{'addresses':[]}");
	json_decref(links);

	/* the same with IPv6 left on: so the frame was good, and it is the settings that do it */
	assert_ok(&err, sysctl_set_ipv6(-1, BR, "accept_ra", 1, &err));
	assert_ok(&err, sysctl_set_ipv6(-1, BR, "disable_ipv6", 0, &err));
	while (!heard && lab_now_ms() < until) {
		_cleanup_free_ char *now = NULL;

		send_frame(tap, &ra);
		now = bridge_addresses();
		heard = strstr(now, "fd77:") != NULL;
	}
	assert_true(heard);
	(void)fd_close(host.fd);
	pod_down(&p);
	pod_down(&p2);
	host_bridge_remove();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overlay_and_jumbo_mtu),
		cmocka_unit_test(two_pods),
		cmocka_unit_test(each_queue_carries),
		cmocka_unit_test(own_frames_that_come_back),
		cmocka_unit_test(router_advertisements),
	};

	return cmocka_run_group_tests(tests, lab_enter, lab_leave);
}
