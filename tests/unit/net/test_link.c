// SPDX-License-Identifier: Apache-2.0
/* Transport, links, addresses and settings, one change at a time. */
#include "net/link.h"

#include "net/addr.h"
#include "net/netns.h"
#include "net/nlsock.h"
#include "net/sysctl.h"
#include "tests/unit/net/lab.h"

#include <netlink/socket.h>

static struct nl_sock *sk;

static int open_sock(void **state)
{
	struct err err = {0};

	(void)state;
	return nlsock_open(-1, &sk, &err);
}

static int close_sock(void **state)
{
	(void)state;
	nlsock_closep(&sk);
	sk = NULL;
	return 0;
}

static struct linkinfo make(const char *name, const char *kind)
{
	struct link_new new = {.name = name, .kind = kind};
	struct linkinfo l = {0};
	struct err err = {0};

	assert_ok(&err, link_add(sk, &new, &err));
	assert_ok(&err, linkinfo_get(sk, name, &l, &err));
	return l;
}

static void transport(void **state)
{
	struct link_new lo = {.name = "lo", .kind = "bridge"};
	struct link_new odd = {.name = "x", .kind = "nosuchkind"};
	struct err err = {0};
	struct linkinfo l;

	(void)state;
	assert_int_equal(fcntl(nl_socket_get_fd(sk), F_GETFD), FD_CLOEXEC);
	assert_int_equal(linkinfo_find(sk, "lo", &l, &err), 1);
	assert_int_equal(linkinfo_find(sk, "nosuch", &l, &err), 0);
	assert_int_equal(err.code, 0);
	assert_refused(-ENODEV, "link 'nosuch': No such device", &err,
		       linkinfo_get(sk, "nosuch", &l, &err));
	assert_refused(-EEXIST, "create bridge 'lo': File exists", &err, link_add(sk, &lo, &err));
	/* the kernel's extended text is kept */
	assert_refused(-EOPNOTSUPP,
		       "create nosuchkind 'x': Operation not supported (Unknown device type", &err,
		       link_add(sk, &odd, &err));
	assert_refused(-EINVAL, "at most 15", &err,
		       linkinfo_find(sk, "sixteencharacter", &l, &err));
	/* and the socket is in step after all these errors */
	assert_int_equal(linkinfo_find(sk, "lo", &l, &err), 1);
	assert_string_equal(l.name, "lo");
}

static void changes(void **state)
{
	static const uint8_t mac[6] = {2, 1, 2, 3, 4, 5}, bad[6] = {1, 1, 2, 3, 4, 5};
	struct linkinfo l = make("br", "bridge"), port;
	struct err err = {0};
	json_t *links;

	(void)state;
	assert_ok(&err, link_rename(sk, &l, "br0", &err));
	assert_refused(-EEXIST, "'br': rename to 'lo'", &err, link_rename(sk, &l, "lo", &err));
	assert_ok(&err, link_set_mac(sk, &l, mac, &err));
	assert_ok(&err, link_set_mtu(sk, &l, 1450, &err));
	assert_ok(&err, link_mark(sk, &l, "a:b", &err));
	assert_ok(&err, link_set_up(sk, &l, &err));
	port = make("p0", "bridge");
	assert_ok(&err, link_delete(sk, &port, &err));
	links = lab_links(-1);
	assert_null(lab_link(links, "br"));
	assert_null(lab_link(links, "p0"));
	lab_expect(links, "br0",
		   "{'mac':'02:01:02:03:04:05','mtu':1450,'alias':'virtpod:a:b','up':true}");
	json_decref(links);
	assert_refused(-EADDRNOTAVAIL, "'br': set MAC address 01:01:02:03:04:05", &err,
		       link_set_mac(sk, &l, bad, &err));
	assert_refused(-EINVAL, "'br': set MTU 1", &err, link_set_mtu(sk, &l, 1, &err));
	assert_refused(-EOPNOTSUPP, "bridge port 'br': set learning off", &err,
		       link_set_learning(sk, &l, false, &err));
	assert_ok(&err, link_delete(sk, &l, &err));
	assert_refused(-ENODEV, "delete link 'br'", &err, link_delete(sk, &l, &err));
	assert_refused(-ENODEV, "'br': set up", &err, link_set_up(sk, &l, &err));
}

static void veth_across_namespaces(void **state)
{
	static const uint8_t mac[6] = {2, 9, 9, 9, 9, 9};
	_cleanup_free_ char *before = lab_dump(), *after = NULL;
	_cleanup_fd_ int pod = -1;
	struct linkinfo br = make("br0", "bridge"), v;
	struct link_new veth = {.name = "v0",
				.kind = "veth",
				.mtu = 1400,
				.master = br.ifindex,
				.peer_name = "eth0",
				.peer_mac = mac};
	struct err err = {0};
	json_t *here, *there;

	(void)state;
	assert_ok(&err, netns_create(lab_dir, "pod", &pod, &err));
	veth.peer_netns_fd = pod;
	assert_ok(&err, link_add(sk, &veth, &err));
	here = lab_links(-1);
	there = lab_links(pod);
	lab_expect(here, "v0",
		   "{'kind':'veth','mtu':1400,'master':'br0','learning':true,'up':false,"
		   "'peerNetnsid':0,'alias':null,'tun':null}");
	lab_expect(there, "eth0",
		   "{'kind':'veth','mtu':1400,'master':null,'learning':null,"
		   "'mac':'02:09:09:09:09:09','peerNetnsid':0,'addresses':[]}");
	assert_int_equal(json_integer_value(json_object_get(lab_link(here, "v0"), "peerIfindex")),
			 json_integer_value(json_object_get(lab_link(there, "eth0"), "ifindex")));
	json_decref(here);
	json_decref(there);
	assert_ok(&err, linkinfo_get(sk, "v0", &v, &err));
	assert_ok(&err, link_set_learning(sk, &v, false, &err));
	assert_ok(&err, linkinfo_get(sk, "v0", &v, &err));
	assert_int_equal(v.learning, 0);
	assert_ok(&err, link_set_learning(sk, &v, true, &err));
	assert_ok(&err, linkinfo_get(sk, "v0", &v, &err));
	assert_int_equal(v.learning, 1);
	/* the pod's name is taken now: nothing of a second pair is left */
	veth.name = "v1";
	assert_refused(-EEXIST, "create veth 'v1' with 'eth0' in the pod", &err,
		       link_add(sk, &veth, &err));
	assert_int_equal(linkinfo_find(sk, "v1", &v, &err), 0);
	assert_ok(&err, linkinfo_get(sk, "v0", &v, &err));
	assert_ok(&err, link_delete(sk, &v, &err));
	assert_ok(&err, link_delete(sk, &br, &err));
	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
	after = lab_dump();
	assert_string_equal(before, after);
}

static void addresses(void **state)
{
	static const char *const bad[] = {
		"",
		"/24",
		"10.9.0.1/",
		"10.9.0.1/33",
		"10.9.0.1/-1",
		"10.9.0.1/+1",
		"10.9.0.1/ 1",
		"10.9.0.1/24x",
		"10.9/16",
		"default/0",
		"fd00::/129",
		"10.9.0.1/4294967320",
		"fd00::g/64",
		"10.9.0.1/24/24",
		"fd00:1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb/64",
	};
	struct linkinfo l = make("br0", "bridge");
	struct err err = {0};
	struct addr a;
	json_t *links;

	(void)state;
	assert_ok(&err, link_set_up(sk, &l, &err));
	assert_ok(&err, addr_add(sk, &l, "10.9.0.1/24", &err));
	assert_ok(&err, addr_add(sk, &l, "10.9.0.2/24", &err)); /* a secondary of the first */
	assert_ok(&err, addr_add(sk, &l, "10.9.0.2/24", &err)); /* again */
	assert_ok(&err, addr_add(sk, &l, "169.254.7.1/32", &err));
	assert_ok(&err, addr_add(sk, &l, "fd00:0::7/64", &err));
	links = lab_links(-1);
	assert_true(json_array_size(json_object_get(lab_link(links, "br0"), "addresses")) >= 4);
	json_decref(links);
	assert_ok(&err, addr_flush(sk, &l, "169.254.7.1/32", &err));
	links = lab_links(-1);
	lab_expect(links, "br0", "{'addresses':['169.254.7.1/32']}");
	json_decref(links);
	assert_ok(&err, addr_flush(sk, &l, NULL, &err));
	links = lab_links(-1);
	lab_expect(links, "br0", "{'addresses':[]}");
	json_decref(links);
	assert_ok(&err, link_delete(sk, &l, &err));

	assert_ok(&err, addr_parse("fd00:0:0::7/64", &a, &err));
	assert_string_equal(a.text, "fd00::7/64");
	assert_int_equal(a.family, AF_INET6);
	assert_refused(-EINVAL, "as in 10.9.0.254/24", &err, addr_parse("10.9.0.1", &a, &err));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_refused(-EINVAL, bad[i], &err, addr_parse(bad[i], &a, &err));
}

static void settings(void **state)
{
	_cleanup_fd_ int pod = -1;
	struct err err = {0};
	int v = -1;

	(void)state;
	assert_ok(&err, netns_create(lab_dir, "pod", &pod, &err));
	assert_ok(&err, sysctl_set(pod, "ipv4/conf/all/arp_ignore", 2, &err));
	assert_ok(&err, sysctl_get(pod, "ipv4/conf/all/arp_ignore", &v, &err));
	assert_int_equal(v, 2);
	/* not here */
	assert_ok(&err, sysctl_get(-1, "ipv4/conf/all/arp_ignore", &v, &err));
	assert_int_equal(v, 0);
	assert_ok(&err, sysctl_set_ipv6(pod, "lo", "disable_ipv6", 1, &err));
	assert_refused(-ENOENT, "/proc/sys/net/ipv4/nosuch: set to 1: No such file", &err,
		       sysctl_set(pod, "ipv4/nosuch", 1, &err));
	/* a link without IPv6, as below its least MTU: nothing to switch off */
	assert_ok(&err, sysctl_set_ipv6(pod, "nosuch", "disable_ipv6", 1, &err));
	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
}

static void ownership(void **state)
{
	struct linkinfo l = {.alias = "virtpod:ab12:net"};
	char longest[LINK_ALIAS_MAX - sizeof LINK_ALIAS_PREFIX + 1];
	struct err err = {0};

	(void)state;
	assert_true(link_is_ours(&l, "ab12"));
	assert_true(link_is_ours(&l, "ab12:net"));
	assert_false(link_is_ours(&l, "ab1"));
	assert_false(link_is_ours(&l, "ab12:ne"));
	assert_false(link_is_ours(&l, "ab12:net:x"));
	assert_false(link_is_ours(&(struct linkinfo){0}, "ab12"));
	assert_false(link_is_ours(&(struct linkinfo){.alias = "other:ab12"}, "ab12"));

	memset(longest, 'a', sizeof longest);
	longest[sizeof longest - 1] = 0;
	l = make("br0", "bridge");
	assert_ok(&err, link_check_tag(longest, &err));
	assert_ok(&err, link_mark(sk, &l, longest, &err));
	assert_ok(&err, linkinfo_get(sk, "br0", &l, &err));
	assert_true(link_is_ours(&l, longest));
	assert_ok(&err, link_delete(sk, &l, &err));
	assert_refused(-EINVAL, "link tag ''", &err, link_check_tag("", &err));
	assert_refused(-EINVAL, "link tag 'a b'", &err, link_check_tag("a b", &err));

	assert_refused(-EINVAL, "link name 'a/b'", &err, link_check_name("a/b", &err));
	assert_refused(-EINVAL, "link name '..'", &err, link_check_name("..", &err));
	assert_refused(-EINVAL, "link name ''", &err, link_check_name("", &err));
	assert_refused(-EINVAL, "15", &err, link_check_name("sixteencharacter", &err));
	assert_ok(&err, link_check_name("fifteencharacte", &err));
	assert_refused(-EINVAL, "MTU 67", &err, link_check_mtu(67, &err));
	assert_refused(-EINVAL, "MTU 65522", &err, link_check_mtu(65522, &err));
	assert_ok(&err, link_check_mtu(68, &err));
	assert_ok(&err, link_check_mtu(65521, &err));
}

/* more links than one datagram holds, in order */
static void many_links(void **state)
{
	struct linkinfo *links = NULL;
	struct err err = {0};
	char name[IFNAMSIZ];
	size_t n = 0, seen = 0;

	(void)state;
	for (int i = 0; i < 40; i++) {
		(void)snprintf(name, sizeof name, "many%d", i);
		(void)make(name, "bridge");
	}
	assert_ok(&err, linkinfo_list(sk, &links, &n, &err));
	for (size_t i = 0; i < n; i++) {
		seen += str_after(links[i].name, "many") != NULL;
		assert_true(i == 0 || links[i].ifindex > links[i - 1].ifindex);
	}
	assert_int_equal(seen, 40);
	for (size_t i = 0; i < n; i++)
		if (str_after(links[i].name, "many"))
			assert_ok(&err, link_delete(sk, &links[i], &err));
	free(links);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_sock, close_sock)
	const struct CMUnitTest tests[] = {
		TEST(transport),  TEST(changes),  TEST(veth_across_namespaces),
		TEST(addresses),  TEST(settings), TEST(ownership),
		TEST(many_links),
	};

	return cmocka_run_group_tests(tests, lab_enter, lab_leave);
}
