// SPDX-License-Identifier: Apache-2.0
/* The wiring's result link by link, what it refuses, and that a half-done one leaves nothing. */
#include "lib/mac.h"
#include "net/link.h"
#include "net/nlsock.h"
#include "net/sysctl.h"
#include "tests/unit/net/pods.h"

static bool kernel_has_dummy(void)
{
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	struct link_new new = {.name = "probe", .kind = "dummy"};
	struct err err = {0};
	struct linkinfo l;
	int r;

	assert_ok(&err, nlsock_open(-1, &sk, &err));
	r = link_add(sk, &new, &err);
	if (r == -EOPNOTSUPP)
		return false;
	assert_int_equal(r, 0);
	assert_ok(&err, linkinfo_get(sk, "probe", &l, &err));
	assert_ok(&err, link_delete(sk, &l, &err));
	return true;
}

static int setting(int netns_fd, const char *key)
{
	struct err err = {0};
	int v = -1;

	assert_ok(&err, sysctl_get(netns_fd, key, &v, &err));
	return v;
}

/* the pod's links, with MTU `mtu`, of names derived from X */
static void expect_pod(const struct pod *p, const char *bridge, const char *nic, const char *tap,
		       const char *tun)
{
	json_t *links = lab_links(p->netns);
	const char *names[] = {bridge, nic, tap};
	_cleanup_free_ char *b = xasprintf("{'kind':'bridge','up':true,'operState':'up','mtu':%u,"
					   "'addresses':[],'master':null,'alias':null}",
					   p->spec.mtu);
	_cleanup_free_ char *n = xasprintf("{'kind':'veth','up':true,'operState':'up','mtu':%u,"
					   "'addresses':[],'master':'%s','learning':false}",
					   p->spec.mtu, bridge);
	_cleanup_free_ char *t = xasprintf("{'kind':'tun','up':true,'mtu':%u,'addresses':[],"
					   "'master':'%s','learning':true,'tun':{%s}}",
					   p->spec.mtu, bridge, tun);

	lab_expect(links, bridge, b);
	lab_expect(links, nic, n);
	lab_expect(links, tap, t);
	/* lo, the three, and the dummy where there is one */
	assert_int_equal(json_array_size(links), 4 + kernel_has_dummy());
	assert_string_equal(json_string_value(json_object_get(lab_link(links, bridge), "mac")),
			    json_string_value(json_object_get(lab_link(links, nic), "mac")));
	json_decref(links);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *key = xasprintf("ipv6/conf/%s/disable_ipv6", names[i]);

		assert_int_equal(setting(p->netns, key), 1);
	}
	assert_int_equal(setting(p->netns, "ipv4/conf/all/arp_ignore"), 1);
}

#define TUN_SINGLE                                                                                 \
	"'type':'tap','owner':100107,'group':100036,'multiQueue':false,'queues':1,'vnetHdr':true," \
	"'packetInfo':false,'persist':true"

/* oper states follow by the kernel's link watch, a moment after the links are set up */
static void wait_operational(const struct pod *p, const char *nic)
{
	for (int64_t end = lab_now_ms() + LAB_PATIENCE_MS; lab_now_ms() < end;) {
		json_t *links = lab_links(p->netns);
		bool up = str_eq(
			json_string_value(json_object_get(lab_link(links, nic), "operState")),
			"up");

		json_decref(links);
		if (up)
			return;
	}
	fail_msg("'%s' never became operational", nic);
}

static void primary_network(void **state)
{
	_cleanup_free_ char *before = lab_dump(), *after = NULL;
	struct l2bridge_spec spec = pod_spec(1, 1450);
	struct err err = {0};
	json_t *links, *ours;
	struct pod p;

	(void)state;
	host_bridge(1450, "10.9.0.254/24");
	pod_up(&p, &spec);
	wait_operational(&p, "eth0-nic");
	expect_pod(&p, "k6t-eth0", "eth0-nic", "tap0", TUN_SINGLE);
	links = lab_links(-1);
	lab_expect(links, "vph1",
		   "{'kind':'veth','master':'vpbr0','up':true,'mtu':1450,'addresses':[],"
		   "'alias':'virtpod:lab0:pod','learning':true}");
	json_decref(links);
	assert_int_equal(setting(-1, "ipv6/conf/vph1/disable_ipv6"), 1);
	assert_int_equal(net_bridge_ports(BR, &err), 1);
	assert_ok(&err, net_list_ours(LAB_TAG, &ours, &err));
	assert_int_equal(json_array_size(ours), 2);
	assert_non_null(lab_link(ours, BR));
	assert_non_null(lab_link(ours, "vph1"));
	json_decref(ours);
	assert_ok(&err, net_list_ours("lab", &ours, &err));
	assert_int_equal(json_array_size(ours), 0);
	json_decref(ours);
	pod_down(&p);
	assert_ok(&err, l2bridge_teardown(&spec, &err)); /* again */
	host_bridge_remove();
	after = lab_dump();
	assert_string_equal(before, after);
}

static void secondary_network_and_jumbo(void **state)
{
	struct l2bridge_spec spec = pod_spec(2, 9000);
	struct pod p;

	(void)state;
	host_bridge(9000, NULL);
	(void)snprintf(spec.pod_ifname, sizeof spec.pod_ifname, "podb1f51a511f1");
	spec.queues = 2;
	pod_up(&p, &spec);
	wait_operational(&p, "b1f51a511f1-nic");
	expect_pod(&p, "k6t-b1f51a511f1", "b1f51a511f1-nic", "tapb1f51a511f1",
		   "'type':'tap','owner':100107,'group':100036,'multiQueue':true,'queues':2,"
		   "'vnetHdr':true,'packetInfo':false,'persist':true");
	pod_down(&p);
	host_bridge_remove();
}

/* a pod with two interfaces on one bridge */
static void two_networks_in_one_pod(void **state)
{
	struct l2bridge_spec spec = pod_spec(1, 1500), second = pod_spec(2, 1500);
	struct err err = {0};
	json_t *links;
	struct pod p;
	int tap = -1;

	(void)state;
	host_bridge(1500, NULL);
	pod_up(&p, &spec);
	(void)snprintf(second.pod_ifname, sizeof second.pod_ifname, "podb1f51a511f1");
	assert_ok(&err, l2bridge_setup(p.netns, &second, &tap, &err));
	links = lab_links(p.netns);
	lab_expect(links, "tap0", "{'master':'k6t-eth0'}");
	lab_expect(links, "tapb1f51a511f1", "{'master':'k6t-b1f51a511f1'}");
	json_decref(links);
	assert_int_equal(net_bridge_ports(BR, &err), 2);
	(void)fd_close(tap);
	assert_ok(&err, l2bridge_teardown(&second, &err));
	pod_down(&p);
	host_bridge_remove();
}

static void most_queues(void **state)
{
	struct l2bridge_spec spec = pod_spec(1, 1500);
	_cleanup_fd_ int netns = -1;
	struct err err = {0};
	struct pod p;
	json_t *links;
	int fds[1] = {-5};

	(void)state;
	host_bridge(1500, NULL);
	spec.queues = 256;
	pod_up(&p, &spec);
	links = lab_links(p.netns);
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(lab_link(links, "tap0"), "tun"), "queues")),
			 256);
	json_decref(links);
	pod_down(&p);
	spec.queues = 257;
	assert_ok(&err, netns_create(lab_dir, "pod", &netns, &err));
	assert_refused(-EINVAL, "257 tap queues", &err, l2bridge_setup(netns, &spec, fds, &err));
	assert_int_equal(fds[0], -5);
	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
	host_bridge_remove();
}

static void addresses_to_keep(void **state)
{
	static const char *const addresses[] = {"10.9.0.7/24", "fd00::7/64", NULL};
	struct l2bridge_spec spec = pod_spec(1, 1400);
	_cleanup_free_ char *before = NULL, *after = NULL;
	bool dummy = kernel_has_dummy();
	_cleanup_fd_ int netns = -1;
	struct err err = {0};
	json_t *links;
	int tap = -1;

	(void)state;
	host_bridge(1400, NULL);
	before = lab_dump();
	spec.addresses = addresses;
	assert_ok(&err, netns_create(lab_dir, "pod", &netns, &err));
	if (dummy) {
		assert_ok(&err, l2bridge_setup(netns, &spec, &tap, &err));
		links = lab_links(netns);
		lab_expect(links, "eth0",
			   "{'kind':'dummy','up':false,'mtu':1400,'mac':'02:aa:00:00:00:01',"
			   "'addresses':['10.9.0.7/24','fd00::7/64'],'master':null}");
		json_decref(links);
		(void)fd_close(tap);
		assert_ok(&err, l2bridge_teardown(&spec, &err));
	} else {
		assert_refused(-EOPNOTSUPP, "no dummy driver", &err,
			       l2bridge_setup(netns, &spec, &tap, &err));
	}
	after = lab_dump();
	assert_string_equal(before, after);
	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
	host_bridge_remove();
}

static void block_pod(int netns, const char *name, const char *kind)
{
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	struct link_new new = {.name = name, .kind = kind};
	struct err err = {0};

	assert_ok(&err, nlsock_open(netns, &sk, &err));
	assert_ok(&err, link_add(sk, &new, &err));
}

/* the set-up fails at `words`; afterwards the host is as before, and nothing is open */
static void expect_undone(int netns, int code, const char *words)
{
	_cleanup_free_ char *before = lab_dump(), *after = NULL;
	struct l2bridge_spec spec = pod_spec(1, 1500);
	int fds[2] = {-5, -5}, open_before = lab_count_fds();
	struct err err = {0};

	spec.queues = 2;
	assert_refused(code, words, &err, l2bridge_setup(netns, &spec, fds, &err));
	after = lab_dump();
	assert_string_equal(before, after);
	assert_int_equal(fds[0], -5);
	assert_int_equal(lab_count_fds(), open_before);
	assert_ok(&err, l2bridge_teardown(&spec, &err));
}

static void fails_at_each_step(void **state)
{
	static const struct {
		const char *taken, *words;
		int code;
	} cases[] = {
		{"eth0", "create veth 'vph1' with 'eth0' in the pod", -EEXIST},
		{"k6t-eth0", "pod bridge: create bridge 'k6t-eth0'", -EEXIST},
		{"eth0-nic", "pod NIC: link 'eth0': rename to 'eth0-nic'", -EEXIST},
		{"tap0", "tap: tap 'tap0': create", -EBUSY},
	};
	struct l2bridge_spec spec = pod_spec(1, 1500);
	struct err err = {0};
	struct pod p;

	(void)state;
	host_bridge(1500, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_fd_ int netns = -1;

		assert_ok(&err, netns_create(lab_dir, "pod", &netns, &err));
		block_pod(netns, cases[i].taken, "bridge");
		expect_undone(netns, cases[i].code, cases[i].words);
		assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
	}
	/* and after all that it works */
	pod_up(&p, &spec);
	pod_down(&p);
	host_bridge_remove();
}

#define ARP_IGNORE "/proc/sys/net/ipv4/conf/all/arp_ignore"

/* run in the pod's namespace: its settings are other files than the host's */
static int cover_setting(void *arg)
{
	(void)arg;
	return mount("/dev/null", ARP_IGNORE, NULL, MS_BIND, NULL);
}

static int uncover_setting(void *arg)
{
	(void)arg;
	return umount2(ARP_IGNORE, MNT_DETACH);
}

/* the last step but one: a setting that doesn't read back as it was written */
static void fails_at_settings(void **state)
{
	_cleanup_fd_ int netns = -1;
	struct err err = {0};

	(void)state;
	host_bridge(1500, NULL);
	assert_ok(&err, netns_create(lab_dir, "pod", &netns, &err));
	assert_int_equal(netns_call(netns, cover_setting, NULL, &err), 0);
	expect_undone(netns, -EINVAL, "arp_ignore: " ARP_IGNORE ": set to 1");
	assert_int_equal(netns_call(netns, uncover_setting, NULL, &err), 0);
	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
	host_bridge_remove();
}

static void host_refusals(void **state)
{
	struct l2bridge_spec spec = pod_spec(1, 1500), other;
	_cleanup_free_ char *before = NULL, *after = NULL;
	_cleanup_fd_ int netns = -1;
	struct err err = {0};
	int tap = -5;

	(void)state;
	assert_ok(&err, netns_create(lab_dir, "pod", &netns, &err));
	assert_refused(-ENODEV, "l2bridge 'eth0': link 'vpbr0'", &err,
		       l2bridge_setup(netns, &spec, &tap, &err));
	host_bridge(1450, NULL);
	before = lab_dump();
	assert_refused(-EINVAL, "has MTU 1450, wanted 1500", &err,
		       l2bridge_setup(netns, &spec, &tap, &err));
	spec.mtu = 1450;
	other = spec;
	(void)snprintf(other.bridge, sizeof other.bridge, "lo");
	assert_refused(-EINVAL, "'lo' is no bridge", &err,
		       l2bridge_setup(netns, &other, &tap, &err));
	/* a foreign link has the host end's name: neither taken over nor torn down */
	other = spec;
	(void)snprintf(other.host_ifname, sizeof other.host_ifname, BR);
	assert_refused(-EEXIST,
		       "must be named 'vpbr0', and a link of that name is there that is not ours "
		       "(bridge, alias 'virtpod:lab0:net': virtpod's, of another root or network)",
		       &err, l2bridge_setup(netns, &other, &tap, &err));
	other.tag = "lab1";
	assert_refused(-EPERM, "'vpbr0' (bridge, alias 'virtpod:lab0:net') is not ours", &err,
		       l2bridge_teardown(&other, &err));
	other = spec;
	other.pod_mac[0] = 0xfe;
	assert_refused(-EINVAL, "fe", &err, l2bridge_setup(netns, &other, &tap, &err));
	other = spec;
	other.tag = "";
	assert_refused(-EINVAL, "tag", &err, l2bridge_setup(netns, &other, &tap, &err));
	other = spec;
	(void)snprintf(other.pod_ifname, sizeof other.pod_ifname, "abcdefghijkl");
	assert_refused(-EINVAL, "at most 11", &err, l2bridge_setup(netns, &other, &tap, &err));
	assert_int_equal(tap, -5);
	after = lab_dump();
	assert_string_equal(before, after);
	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
	host_bridge_remove();
}

/* a second VM that asks for the first one's link, and a set-up killed before the mark */
static void teardown_of_the_right_one(void **state)
{
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	struct l2bridge_spec spec = pod_spec(1, 1500), thief = spec;
	struct link_new veth = {.name = "vph2", .kind = "veth", .peer_name = "eth0"};
	_cleanup_fd_ int netns = -1;
	struct err err = {0};
	struct linkinfo l;
	uint8_t mac[6];
	json_t *ours;
	struct pod p;
	int tap = -5;

	(void)state;
	host_bridge(1500, NULL);
	pod_up(&p, &spec);
	assert_ok(&err, netns_create(lab_dir, "pod", &netns, &err));
	thief.tag = LAB_TAG ":thief";
	assert_refused(-EEXIST, "must be named 'vph1'", &err,
		       l2bridge_setup(netns, &thief, &tap, &err));
	assert_refused(-EPERM, "is not ours", &err, l2bridge_teardown(&thief, &err));
	assert_int_equal(net_bridge_ports(BR, &err), 1);

	/* not marked, and with another MAC than ours would have: somebody else's */
	veth.peer_netns_fd = netns;
	assert_ok(&err, nlsock_open(-1, &sk, &err));
	assert_ok(&err, link_add(sk, &veth, &err));
	spec = pod_spec(2, 1500);
	assert_refused(-EEXIST, "must be named 'vph2'", &err,
		       l2bridge_setup(netns, &spec, &tap, &err));
	assert_refused(-EPERM, "'vph2' (veth, alias '') is not ours", &err,
		       l2bridge_teardown(&spec, &err));
	assert_ok(&err, linkinfo_get(sk, "vph2", &l, &err));
	assert_ok(&err, link_delete(sk, &l, &err));

	/* killed before the mark */
	mac_derive("net/l2bridge", LAB_TAG, "vph2", mac);
	assert_ok(&err, link_add(sk, &veth, &err));
	assert_ok(&err, linkinfo_get(sk, "vph2", &l, &err));
	assert_ok(&err, link_set_mac(sk, &l, mac, &err));
	assert_ok(&err, net_list_ours(LAB_TAG, &ours, &err));
	assert_non_null(lab_link(ours, "vph2"));
	json_decref(ours);
	assert_ok(&err, l2bridge_teardown(&spec, &err));
	assert_refused(-ENODEV, "vph2", &err, net_bridge_ports("vph2", &err));

	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
	pod_down(&p);
	host_bridge_remove();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(primary_network),
		cmocka_unit_test(secondary_network_and_jumbo),
		cmocka_unit_test(two_networks_in_one_pod),
		cmocka_unit_test(most_queues),
		cmocka_unit_test(addresses_to_keep),
		cmocka_unit_test(fails_at_each_step),
		cmocka_unit_test(fails_at_settings),
		cmocka_unit_test(host_refusals),
		cmocka_unit_test(teardown_of_the_right_one),
	};

	return cmocka_run_group_tests(tests, lab_enter, lab_leave);
}
