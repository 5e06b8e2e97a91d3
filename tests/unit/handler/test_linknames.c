// SPDX-License-Identifier: Apache-2.0
/* Names of links in the host: what tells two apart, and what must not. */
#include "tests/unit/unit.h"

#include "handler/linknames.h"

#include "lib/util.h"

#include <string.h>

static const struct paths here = {.tag = "0123abcd"}, there = {.tag = "fedc9876"};

static struct plan_nic nic(const char *name, const char *network, const char *bridge)
{
	return (struct plan_nic){.name = (char *)(uintptr_t)name,
				 .network = (char *)(uintptr_t)network,
				 .bridge = (char *)(uintptr_t)bridge};
}

static struct link_names names(const struct paths *paths, const char *uid, struct plan_nic n)
{
	struct link_names ret;

	memset(&ret, 0xff, sizeof ret);
	link_names(paths, uid, &n, &ret);
	return ret;
}

static void assert_hashed(const char *name, const char *prefix)
{
	assert_int_equal(strlen(name), 13);
	assert_non_null(str_after(name, prefix));
	assert_int_equal(strspn(name + 2, "0123456789abcdef"), 11);
}

static void test_form(void **state)
{
	struct link_names n = names(&here, "u1", nic("blue", "default/blue", NULL));

	(void)state;
	assert_hashed(n.bridge, "vb");
	assert_hashed(n.veth, "vv");
	assert_string_equal(n.bridge_tag, "0123abcd:default/blue");
}

static void test_what_tells_apart(void **state)
{
	struct link_names a = names(&here, "u1", nic("blue", "default/blue", NULL));
	struct link_names pod = names(&here, "u2", nic("blue", "default/blue", NULL));
	struct link_names iface = names(&here, "u1", nic("red", "default/blue", NULL));
	struct link_names ns = names(&here, "u1", nic("blue", "other/blue", NULL));
	struct link_names root = names(&there, "u1", nic("blue", "default/blue", NULL));

	(void)state;
	/* pods of one network meet on one bridge, each at a port of its own */
	assert_string_equal(a.bridge, pod.bridge);
	assert_string_not_equal(a.veth, pod.veth);
	assert_string_equal(a.bridge, iface.bridge);
	assert_string_not_equal(a.veth, iface.veth);
	assert_string_not_equal(a.bridge, ns.bridge);
	assert_string_not_equal(a.bridge, root.bridge);
	assert_string_not_equal(a.veth, root.veth);
}

/* A bridge that definitions name is shared by all of them, and its alias must not differ. */
static void test_given_bridge(void **state)
{
	struct link_names a = names(&here, "u1", nic("blue", "default/blue", "br-lab"));
	struct link_names b = names(&here, "u2", nic("red", "other/red", "br-lab"));

	(void)state;
	assert_string_equal(a.bridge, "br-lab");
	assert_string_equal(b.bridge, "br-lab");
	assert_string_equal(a.bridge_tag, "0123abcd");
	assert_string_equal(b.bridge_tag, "0123abcd");
	assert_string_not_equal(a.veth, b.veth);
}

/* Longest names that objects can have: the bridge still differs, the alias still fits. */
static void test_long_names(void **state)
{
	char one[400], two[400];
	struct link_names a, b;

	(void)state;
	memset(one, 'x', sizeof one - 1);
	one[sizeof one - 1] = 0;
	memcpy(two, one, sizeof one);
	two[sizeof two - 2] = 'y';
	a = names(&here, "u1", nic("n", one, NULL));
	b = names(&here, "u1", nic("n", two, NULL));
	assert_string_not_equal(a.bridge, b.bridge);
	assert_hashed(a.bridge, "vb");
	assert_int_equal(strlen(a.bridge_tag), sizeof a.bridge_tag - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_what_tells_apart),
		cmocka_unit_test(test_given_bridge),
		cmocka_unit_test(test_long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
