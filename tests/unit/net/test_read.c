// SPDX-License-Identifier: Apache-2.0
/* The documented fields, no more and no fewer; what they say of a wired pod is in test_l2bridge.c. */
#include "net/read.h"

#include "net/link.h"
#include "net/nlsock.h"
#include "tests/unit/net/pods.h"

/* the object's keys are just these, blank-separated and sorted */
static void expect_keys(const json_t *o, const char *want)
{
	_cleanup_free_ char *text = json_dumps(o, JSON_SORT_KEYS), *got = xstrdup("");
	json_t *sorted = json_loads(text, 0, NULL), *v;
	const char *key;

	json_object_foreach (sorted, key, v) {
		char *longer = xasprintf("%s%s%s", got, *got ? " " : "", key);

		free(got);
		got = longer;
	}
	json_decref(sorted);
	assert_string_equal(got, want);
}

static void fields(void **state)
{
	struct l2bridge_spec spec = pod_spec(1, 1500);
	json_t *links, *l;
	struct pod p;

	(void)state;
	host_bridge(1500, "10.9.0.1/24");
	pod_up(&p, &spec);
	links = lab_links(p.netns);
	expect_keys(lab_link(links, "lo"), "addresses ifindex kind mac mtu name operState up");
	l = lab_link(links, "eth0-nic");
	expect_keys(l, "addresses ifindex kind learning mac master mtu name operState peerIfindex "
		       "peerNetnsid up");
	l = lab_link(links, "tap0");
	expect_keys(l, "addresses ifindex kind learning mac master mtu name operState tun up");
	expect_keys(json_object_get(l, "tun"),
		    "group multiQueue owner packetInfo persist queues type vnetHdr");
	json_decref(links);
	links = lab_links(-1);
	expect_keys(lab_link(links, BR), "addresses alias ifindex kind mac mtu name operState up");
	json_decref(links);
	pod_down(&p);
	host_bridge_remove();
}

static void plain_links(void **state)
{
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	struct link_new veth = {.name = "v0", .kind = "veth", .peer_name = "v1"};
	_cleanup_fd_ int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct err err = {0};
	struct linkinfo l;
	json_t *links;
	int last = 0;
	size_t i;

	(void)state;
	veth.peer_netns_fd = here;
	assert_ok(&err, nlsock_open(-1, &sk, &err));
	assert_ok(&err, link_add(sk, &veth, &err));
	links = lab_links(-1);
	/* both ends here: no namespace id, and down is down */
	lab_expect(links, "v0", "{'peerNetnsid':null,'up':false,'operState':'down','alias':null}");
	assert_int_equal(json_integer_value(json_object_get(lab_link(links, "v0"), "peerIfindex")),
			 json_integer_value(json_object_get(lab_link(links, "v1"), "ifindex")));
	for (i = 0; i < json_array_size(links); i++) {
		json_t *index = json_object_get(json_array_get(links, i), "ifindex");

		assert_true(json_integer_value(index) > last);
		last = (int)json_integer_value(index);
	}
	json_decref(links);
	assert_ok(&err, linkinfo_get(sk, "v0", &l, &err));
	assert_ok(&err, link_delete(sk, &l, &err));
}

static void not_a_namespace(void **state)
{
	_cleanup_fd_ int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	json_t *links = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(net_read_links(null, &links, &err), -EINVAL);
	assert_null(links);
	assert_non_null(strstr(err.msg, "enter the pod's network namespace: Invalid argument"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields),
		cmocka_unit_test(plain_links),
		cmocka_unit_test(not_a_namespace),
	};

	return cmocka_run_group_tests(tests, lab_enter, lab_leave);
}
