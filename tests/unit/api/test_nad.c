// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "api/nad.h"
#include "lib/json.h"

static int decode(const char *config, struct network *ret, struct err *err)
{
	_cleanup_json_ json_t *nad = json_pack("{s:{s:s}}", "spec", "config", config);

	return nad_decode(nad, ret, err);
}

/* bridge and gateway as "BRIDGE MTU GATEWAY", "-" where there is none */
static void gives(const char *config, const char *expected)
{
	_cleanup_free_ char *text = NULL;
	struct network n = {0};
	struct err err = {0};

	if (decode(config, &n, &err) < 0)
		fail_msg("%s", err.msg);
	text = xasprintf("%s %u %s", n.bridge ? n.bridge : "-", n.mtu, n.gateway ? n.gateway : "-");
	assert_string_equal(text, expected);
	network_done(&n);
	assert_null(n.bridge);
}

static void refused(const char *config, const char *msg)
{
	struct network n = {.mtu = 7};
	struct err err = {0};

	assert_int_equal(decode(config, &n, &err), -EINVAL);
	assert_string_equal(err.msg, msg);
	assert_int_equal(n.mtu, 7); /* untouched */
}

#define STATIC(address)                                                                            \
	"{\"type\":\"bridge\",\"isGateway\":true,\"ipam\":{\"type\":\"static\",\"addresses\":"     \
	"[" address "]}}"

static void bridges(void **state)
{
	(void)state;
	gives("{\"type\":\"bridge\"}", "- 1500 -");
	gives("{\"cniVersion\":\"0.3.1\",\"name\":\"lan\",\"type\":\"bridge\",\"bridge\":\"br1\","
	      "\"mtu\":9000,\"ipam\":{},\"ipMasq\":false,\"vlan\":null}",
	      "br1 9000 -");
	gives("{\"type\":\"bridge\",\"mtu\":0}", "- 1500 -");
	gives("{\"type\":\"bridge\",\"mtu\":68}", "- 68 -");
	gives("{\"type\":\"bridge\",\"mtu\":65521}", "- 65521 -");
	gives("{\"type\":\"bridge\",\"mtu\":null}", "- 1500 -");
}

static void gateways(void **state)
{
	(void)state;
	gives(STATIC("{\"address\":\"10.10.0.7/24\",\"gateway\":\"10.10.0.254\"}"),
	      "- 1500 10.10.0.254/24");
	gives(STATIC("{\"address\":\"10.10.0.7/24\"}"), "- 1500 10.10.0.1/24");
	gives(STATIC("{\"address\":\"10.10.77.7/20\"}"), "- 1500 10.10.64.1/20");
	gives(STATIC("{\"address\":\"10.10.0.7/30\"}"), "- 1500 10.10.0.5/30");
	gives(STATIC("{\"address\":\"fd00::77/64\"}"), "- 1500 fd00::1/64");
	gives(STATIC("{\"address\":\"fd00:0:0:1::7/63\",\"gateway\":\"fd00::9\"}"),
	      "- 1500 fd00::9/63");
}

static void wrong_addresses(void **state)
{
	(void)state;
	refused(STATIC("{\"address\":\"10.10.0.7\"}"),
		"spec.config: ipam.addresses[0].address: is '10.10.0.7', must be an address with "
		"prefix length such as 10.10.0.1/24");
	refused(STATIC("{\"address\":\"10.10.0.7/33\"}"),
		"spec.config: ipam.addresses[0].address: is '10.10.0.7/33', must be an address "
		"with "
		"prefix length such as 10.10.0.1/24");
	refused(STATIC("{\"address\":\"10.10.0.7/31\"}"),
		"spec.config: ipam.addresses[0].address: '10.10.0.7/31' leaves no room for the "
		"gateway and a guest: use a shorter prefix");
	refused(STATIC("{\"address\":\"10.10.0.7/24\",\"gateway\":\"10.10.1.1\"}"),
		"spec.config: ipam.addresses[0].gateway: is '10.10.1.1', must be an address inside "
		"10.10.0.7/24");
	refused(STATIC("{\"address\":\"10.10.0.7/24\",\"gateway\":\"fd00::1\"}"),
		"spec.config: ipam.addresses[0].gateway: is 'fd00::1', must be an address inside "
		"10.10.0.7/24");
	refused(STATIC(""), "spec.config: ipam.addresses: must be a list of one address");
	refused("{\"type\":\"bridge\",\"isGateway\":true}",
		"spec.config: isGateway: needs ipam of type static with the bridge's address");
	refused("{\"type\":\"bridge\",\"ipam\":{\"type\":\"static\"}}",
		"spec.config: ipam: static addresses serve the host's bridge only: say isGateway: "
		"true, or leave ipam out");
}

static void what_is_not_built(void **state)
{
	(void)state;
	refused("{\"type\":\"macvlan\"}",
		"spec.config: type: 'macvlan' is not supported yet: use bridge");
	refused("{\"type\":\"bridge\",\"vlan\":5}",
		"spec.config: vlan is not supported yet: cniVersion, name, type, bridge, mtu, "
		"isGateway and ipam are");
	refused("{\"type\":\"bridge\",\"ipMasq\":true}",
		"spec.config: ipMasq is not supported yet: cniVersion, name, type, bridge, mtu, "
		"isGateway and ipam are");
	refused("{\"type\":\"bridge\",\"ipam\":{\"type\":\"dhcp\"}}",
		"spec.config: ipam.type: 'dhcp' is not supported yet: use static with isGateway, "
		"or "
		"leave ipam out and set the guest's addresses in the guest");
	refused("{\"plugins\":[{\"type\":\"bridge\"}]}",
		"spec.config: plugins (a chain) is not supported yet: write the bridge plugin's "
		"fields at the top");
}

static void malformed(void **state)
{
	_cleanup_json_ json_t *empty = json_pack("{s:{}}", "spec");
	struct network n;
	struct err err = {0};

	(void)state;
	assert_int_equal(nad_decode(empty, &n, &err), -EINVAL);
	assert_string_equal(err.msg,
			    "spec.config: is missing: it holds the CNI configuration as JSON");
	refused("[]", "spec.config: must be a JSON object");
	refused("{}", "spec.config: type: is missing; say bridge");
	refused("{\"type\":\"bridge\",\"mtu\":67}",
		"spec.config: mtu: is 67, must be a number from 68 to 65521");
	refused("{\"type\":\"bridge\",\"mtu\":\"9000\"}",
		"spec.config: mtu: must be a whole number from 68 to 65521, without quotes");
	refused("{\"type\":\"bridge\",\"mtu\":65522}",
		"spec.config: mtu: is 65522, must be a number from 68 to 65521");
	refused("{\"type\":\"bridge\",\"bridge\":\"a-name-too-long1\"}",
		"spec.config: bridge: must be a link's name: at most 15 characters, no '/', ':' or "
		"space");
	refused("{\"type\":\"bridge\",\"isGateway\":\"true\"}",
		"spec.config: isGateway: must be true or false");
	err_clear(&err);
	assert_int_equal(decode("{\"type\":\"bridge\",}", &n, &err), -EINVAL);
	assert_string_equal(
		err.msg,
		"spec.config: line 1, column 18: not JSON: string or '}' expected near '}'");
}

/* What a host can't have on a bridge: the network's own, broadcast, loopback, multicast. */
static void no_host_addresses(void **state)
{
	static const char *const bad[] = {"10.9.9.0", "10.9.9.255", "ff02::1", "fd00::"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		bool v6 = strchr(bad[i], ':');
		_cleanup_free_ char *config =
			xasprintf(STATIC("{\"address\":\"%s/%d\",\"gateway\":\"%s\"}"), bad[i],
				  v6 ? 64 : 24, bad[i]);
		struct network n = {0};
		struct err err = {0};

		assert_int_equal(decode(config, &n, &err), -EINVAL);
		assert_non_null(strstr(err.msg, "is no address of a host"));
	}
	refused(STATIC("{\"address\":\"127.0.0.1/8\"}"),
		"spec.config: ipam.addresses[0]: the bridge would get '127.0.0.1/8', which is no "
		"address of a host: use one between the network's and the broadcast address");
	refused(STATIC("{\"address\":\"224.0.0.1/4\"}"),
		"spec.config: ipam.addresses[0]: the bridge would get '224.0.0.1/4', which is no "
		"address of a host: use one between the network's and the broadcast address");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_host_addresses), cmocka_unit_test(bridges),
		cmocka_unit_test(gateways),	     cmocka_unit_test(wrong_addresses),
		cmocka_unit_test(what_is_not_built), cmocka_unit_test(malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
