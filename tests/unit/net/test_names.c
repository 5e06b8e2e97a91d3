// SPDX-License-Identifier: Apache-2.0
#include "net/names.h"

#include "lib/util.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

static void expect(const char *pod, const char *bridge, const char *nic, const char *tap)
{
	struct pod_names n;

	assert_int_equal(names_derive(pod, &n), 0);
	assert_string_equal(n.pod, pod);
	assert_string_equal(n.bridge, bridge);
	assert_string_equal(n.nic, nic);
	assert_string_equal(n.tap, tap);
}

static void as_kubevirt(void **state)
{
	(void)state;
	expect("eth0", "k6t-eth0", "eth0-nic", "tap0");
	expect("ovn-udn1", "k6t-ovn-udn1", "ovn-udn1-nic", "tap0");
	expect("podb1f51a511f1", "k6t-b1f51a511f1", "b1f51a511f1-nic", "tapb1f51a511f1");
}

static void too_long(void **state)
{
	struct pod_names n = {.tap = "untouched"};

	(void)state;
	expect("abcdefghijk", "k6t-abcdefghijk", "abcdefghijk-nic", "tap0");
	assert_int_equal(names_derive("abcdefghijkl", &n), -EINVAL);
	assert_int_equal(names_derive("pod", &n), -EINVAL);
	assert_int_equal(names_derive("", &n), -EINVAL);
	assert_string_equal(n.tap, "untouched");
}

static void pod_nic(void **state)
{
	char name[IFNAMSIZ];

	(void)state;
	assert_string_equal(names_pod_nic("default", true, name), "eth0");
	/* sha256("red") = b1f51a511f1d… by coreutils */
	assert_string_equal(names_pod_nic("red", false, name), "podb1f51a511f1");
	assert_string_equal(names_hashed("vpod", "red", name), "vpodb1f51a511f1");
	assert_string_equal(names_hashed("toolong", "red", name), "toolb1f51a511f1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_kubevirt),
		cmocka_unit_test(too_long),
		cmocka_unit_test(pod_nic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
