// SPDX-License-Identifier: Apache-2.0
#include "net/bridge.h"

#include "lib/mac.h"
#include "net/link.h"
#include "net/nlsock.h"
#include "net/sysctl.h"
#include "net/tap.h"
#include "tests/unit/net/lab.h"

#define BR "vpbr0"

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

static void add_port(const char *name, int *ret_fd)
{
	struct tap_spec spec = {.name = name, .queues = 1};
	struct linkinfo br, l;
	struct err err = {0};

	assert_ok(&err, tap_create(-1, &spec, ret_fd, &err));
	assert_ok(&err, linkinfo_get(sk, BR, &br, &err));
	assert_ok(&err, linkinfo_get(sk, name, &l, &err));
	assert_ok(&err, link_set_master(sk, &l, br.ifindex, &err));
	assert_ok(&err, link_set_up(sk, &l, &err));
}

static void drop_port(const char *name, int fd)
{
	struct err err = {0};
	struct linkinfo l;

	(void)fd_close(fd);
	assert_ok(&err, linkinfo_get(sk, name, &l, &err));
	assert_ok(&err, link_delete(sk, &l, &err));
}

static void expect_bridge(const char *want)
{
	json_t *links = lab_links(-1);

	lab_expect(links, BR, want);
	json_decref(links);
}

static void ensure_and_remove(void **state)
{
	struct net_bridge_spec spec = {
		.name = BR, .tag = LAB_TAG ":net", .mtu = 1450, .gateway = "10.9.0.254/24"};
	_cleanup_free_ char *before = lab_dump(), *first = NULL, *second = NULL, *after = NULL;
	struct err err = {0};
	int v = -1;

	(void)state;
	assert_ok(&err, net_bridge_ensure(&spec, &err));
	/* no address but the gateway: no IPv6 link-local one either */
	expect_bridge("{'kind':'bridge','mtu':1450,'up':true,'alias':'virtpod:lab0:net',"
		      "'addresses':['10.9.0.254/24'],'master':null}");
	assert_ok(&err, sysctl_get(-1, "ipv6/conf/" BR "/disable_ipv6", &v, &err));
	assert_int_equal(v, 1);
	first = lab_dump();
	assert_ok(&err, net_bridge_ensure(&spec, &err));
	second = lab_dump();
	assert_string_equal(first, second);
	assert_int_equal(net_bridge_ports(BR, &err), 0);
	assert_int_equal(net_bridge_remove(BR, LAB_TAG, &err), 0);
	assert_int_equal(net_bridge_remove(BR, LAB_TAG, &err), 0);
	after = lab_dump();
	assert_string_equal(before, after);
	assert_refused(-ENODEV, BR, &err, net_bridge_ports(BR, &err));
}

static void changed_while_empty(void **state)
{
	struct net_bridge_spec spec = {.name = BR, .tag = LAB_TAG, .mtu = 9000};
	struct err err = {0};

	(void)state;
	assert_ok(&err, net_bridge_ensure(&spec, &err));
	expect_bridge("{'mtu':9000,'addresses':[]}");
	spec.mtu = 1400;
	spec.gateway = "10.9.0.1/24";
	assert_ok(&err, net_bridge_ensure(&spec, &err));
	expect_bridge("{'mtu':1400,'addresses':['10.9.0.1/24']}");
	/* the old address is the new one's primary */
	spec.gateway = "10.9.0.2/24";
	assert_ok(&err, net_bridge_ensure(&spec, &err));
	expect_bridge("{'addresses':['10.9.0.2/24']}");
	spec.gateway = NULL;
	assert_ok(&err, net_bridge_ensure(&spec, &err));
	expect_bridge("{'addresses':[]}");
	assert_int_equal(net_bridge_remove(BR, LAB_TAG, &err), 0);
}

/* the bridge has just `address` and, as soon as its ports make it ready, a link-local one */
static void wait_ipv6(const char *address)
{
	for (int64_t end = lab_now_ms() + LAB_PATIENCE_MS; lab_now_ms() < end;) {
		json_t *links = lab_links(-1);
		json_t *list = json_object_get(lab_link(links, BR), "addresses");
		_cleanup_free_ char *text = json_dumps(list, 0);
		bool done = json_array_size(list) == 2 && strstr(text, address) &&
			    strstr(text, "fe80:");

		json_decref(links);
		if (done)
			return;
	}
	fail_msg("the bridge never had %s and a link-local address", address);
}

static void ipv6_gateway(void **state)
{
	struct net_bridge_spec spec = {
		.name = BR, .tag = LAB_TAG, .mtu = 1500, .gateway = "fd00:0:0::1/64"};
	struct err err = {0};
	int v = -1, fd;

	(void)state;
	assert_ok(&err, net_bridge_ensure(&spec, &err));
	assert_ok(&err, sysctl_get(-1, "ipv6/conf/" BR "/disable_ipv6", &v, &err));
	assert_int_equal(v, 0);
	assert_ok(&err, sysctl_get(-1, "ipv6/conf/" BR "/accept_ra", &v, &err));
	assert_int_equal(v, 0);
	add_port("p0", &fd);
	wait_ipv6("fd00::1/64");
	assert_ok(&err, net_bridge_ensure(&spec, &err)); /* link-local ones are no difference */
	wait_ipv6("fd00::1/64");
	drop_port("p0", fd);
	spec.gateway = "fd00::2/64";
	assert_ok(&err, net_bridge_ensure(&spec, &err));
	add_port("p0", &fd);
	wait_ipv6("fd00::2/64");
	drop_port("p0", fd);
	spec.gateway = NULL;
	assert_ok(&err, net_bridge_ensure(&spec, &err));
	expect_bridge("{'addresses':[]}");
	assert_int_equal(net_bridge_remove(BR, LAB_TAG, &err), 0);
}

static void fixed_mac_and_mtu(void **state)
{
	struct net_bridge_spec spec = {.name = BR, .tag = LAB_TAG ":a", .mtu = 1450};
	static const uint8_t low[6] = {0, 0, 0, 0, 0, 1}; /* what a bridge left alone would take */
	struct linkinfo fresh, now, port;
	struct err err = {0};
	int fd;

	(void)state;
	assert_ok(&err, net_bridge_ensure(&spec, &err));
	assert_ok(&err, linkinfo_get(sk, BR, &fresh, &err));
	assert_int_equal(fresh.mac[0], 2);
	add_port("p0", &fd);
	assert_ok(&err, linkinfo_get(sk, "p0", &port, &err));
	assert_ok(&err, link_set_mac(sk, &port, low, &err));
	assert_ok(&err, link_set_mtu(sk, &port, 1280, &err));
	assert_ok(&err, linkinfo_get(sk, BR, &now, &err));
	assert_memory_equal(now.mac, fresh.mac, 6);
	assert_int_equal(now.mtu, 1450);
	drop_port("p0", fd);
	assert_ok(&err, linkinfo_get(sk, BR, &now, &err));
	assert_memory_equal(now.mac, fresh.mac, 6);
	/* the same after it is made anew, another one for another owner */
	assert_int_equal(net_bridge_remove(BR, LAB_TAG, &err), 0);
	assert_ok(&err, net_bridge_ensure(&spec, &err));
	assert_ok(&err, linkinfo_get(sk, BR, &now, &err));
	assert_memory_equal(now.mac, fresh.mac, 6);
	assert_int_equal(net_bridge_remove(BR, LAB_TAG, &err), 0);
	spec.tag = "lab1";
	assert_ok(&err, net_bridge_ensure(&spec, &err));
	assert_ok(&err, linkinfo_get(sk, BR, &now, &err));
	assert_memory_not_equal(now.mac, fresh.mac, 6);
	assert_int_equal(net_bridge_remove(BR, "lab1", &err), 0);
}

static void with_ports(void **state)
{
	struct net_bridge_spec spec = {
		.name = BR, .tag = LAB_TAG, .mtu = 1500, .gateway = "10.9.0.1/24"};
	struct err err = {0};
	int a, b;

	(void)state;
	assert_ok(&err, net_bridge_ensure(&spec, &err));
	add_port("p0", &a);
	add_port("p1", &b);
	assert_int_equal(net_bridge_ports(BR, &err), 2);
	assert_ok(&err, net_bridge_ensure(&spec, &err));
	assert_int_equal(net_bridge_remove(BR, LAB_TAG, &err), 1);
	expect_bridge("{'addresses':['10.9.0.1/24']}");
	spec.mtu = 1450;
	assert_refused(-EBUSY, "has MTU 1500 and 2 ports, wanted MTU 1450: stop the VMs", &err,
		       net_bridge_ensure(&spec, &err));
	spec.mtu = 1500;
	spec.gateway = "10.9.0.2/24";
	assert_refused(-EBUSY, "than the wanted 10.9.0.2/24", &err, net_bridge_ensure(&spec, &err));
	spec.gateway = NULL;
	assert_refused(-EBUSY, "than the wanted none", &err, net_bridge_ensure(&spec, &err));
	expect_bridge("{'mtu':1500,'addresses':['10.9.0.1/24']}");
	drop_port("p0", a);
	drop_port("p1", b);
	assert_int_equal(net_bridge_remove(BR, LAB_TAG, &err), 0);
}

static void foreign_links(void **state)
{
	struct net_bridge_spec spec = {.name = BR, .tag = LAB_TAG, .mtu = 1500};
	struct link_new new = {.name = BR, .kind = "bridge"};
	_cleanup_free_ char *before = NULL, *after = NULL;
	struct err err = {0};
	struct linkinfo l;

	(void)state;
	assert_ok(&err, link_add(sk, &new, &err));
	before = lab_dump();
	assert_refused(
		-EEXIST,
		"the network's bridge must be named 'vpbr0', and a link of that name is there "
		"that is not ours (bridge, alias ''): remove or rename it",
		&err, net_bridge_ensure(&spec, &err));
	assert_refused(-EPERM, "is not ours", &err, net_bridge_remove(BR, LAB_TAG, &err));
	after = lab_dump();
	assert_string_equal(before, after);
	/* another root's */
	assert_ok(&err, linkinfo_get(sk, BR, &l, &err));
	assert_ok(&err, link_mark(sk, &l, "lab1", &err));
	assert_refused(-EEXIST, "alias 'virtpod:lab1': virtpod's", &err,
		       net_bridge_ensure(&spec, &err));
	assert_refused(-EPERM, "is not ours", &err, net_bridge_remove(BR, LAB_TAG, &err));
	assert_ok(&err, link_delete(sk, &l, &err));
	/* no bridge at all, though it has our alias */
	spec.name = "lo";
	assert_ok(&err, linkinfo_get(sk, "lo", &l, &err));
	assert_ok(&err, link_mark(sk, &l, LAB_TAG, &err));
	assert_refused(-EEXIST, "(device, alias", &err, net_bridge_ensure(&spec, &err));
	assert_refused(-EPERM, "is not ours", &err, net_bridge_remove("lo", LAB_TAG, &err));
}

/* killed between making the bridge and marking it */
static void half_made_is_adopted(void **state)
{
	struct net_bridge_spec spec = {.name = BR, .tag = LAB_TAG ":net", .mtu = 1500};
	uint8_t mac[6];
	struct link_new new = {.name = BR, .kind = "bridge", .mac = mac};
	struct err err = {0};
	json_t *ours;

	(void)state;
	mac_derive("net/bridge", LAB_TAG, BR, mac);
	assert_ok(&err, link_add(sk, &new, &err));
	assert_ok(&err, net_list_ours(LAB_TAG, &ours, &err));
	assert_non_null(lab_link(ours, BR));
	json_decref(ours);
	assert_ok(&err, net_bridge_ensure(&spec, &err));
	expect_bridge("{'alias':'virtpod:lab0:net','up':true}");
	assert_int_equal(net_bridge_remove(BR, LAB_TAG, &err), 0);
	assert_ok(&err, link_add(sk, &new, &err));
	assert_int_equal(net_bridge_remove(BR, LAB_TAG ":net", &err), 0);
}

static void bad_specs(void **state)
{
	struct net_bridge_spec ok = {.name = BR, .tag = LAB_TAG, .mtu = 1500}, s = ok;
	_cleanup_free_ char *before = lab_dump(), *after = NULL;
	struct err err = {0};

	(void)state;
	s.name = "sixteencharacter";
	assert_refused(-EINVAL, "15", &err, net_bridge_ensure(&s, &err));
	s = ok;
	s.tag = "";
	assert_refused(-EINVAL, "tag", &err, net_bridge_ensure(&s, &err));
	s = ok;
	s.mtu = 0;
	assert_refused(-EINVAL, "MTU 0", &err, net_bridge_ensure(&s, &err));
	s = ok;
	s.gateway = "10.9.0.1";
	assert_refused(-EINVAL, "prefix length", &err, net_bridge_ensure(&s, &err));
	after = lab_dump();
	assert_string_equal(before, after);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_sock, close_sock)
	const struct CMUnitTest tests[] = {
		TEST(ensure_and_remove),    TEST(changed_while_empty), TEST(ipv6_gateway),
		TEST(fixed_mac_and_mtu),    TEST(with_ports),	       TEST(foreign_links),
		TEST(half_made_is_adopted), TEST(bad_specs),
	};

	return cmocka_run_group_tests(tests, lab_enter, lab_leave);
}
