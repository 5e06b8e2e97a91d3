// SPDX-License-Identifier: Apache-2.0
/* Interfaces, and the networks that they are plugged into. */
#include <string.h>

#include "api/check.h"
#include "api/names.h"
#include "api/plan.h"
#include "api/schema.h"
#include "api/text.h"
#include "lib/json.h"
#include "lib/mac.h"

#define CURE_NO_POD                                                                                \
	"plug the interface into a NetworkAttachmentDefinition (multus: {networkName: NAME}), or " \
	"say spec.domain.devices.autoattachPodInterface: false for a VM without network"

static const json_t *find_name(const json_t *list, const char *name, size_t end)
{
	for (size_t i = 0; i < end && i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);

		if (str_eq(json_str(item, "name"), name))
			return item;
	}
	return NULL;
}

static void check_binding(const struct check *c, size_t i, const json_t *iface)
{
	static const char *const names[] = {"bridge",  "binding", "masquerade", "sriov",
					    "macvtap", "passt",	  "slirp",	"passtBinding"};
	const char *plugin = json_str(iface, "binding.name");
	int n = 0;

	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		n += json_get(iface, names[k]) != NULL;
	if (n != 1)
		check_item(c, CAUSE_INVALID, INTERFACES, i, "",
			   "has %d bindings, must have exactly one: binding: {name: l2bridge}, or "
			   "bridge: {}",
			   n);
	if (!json_get(iface, "binding") || str_eq(plugin, "l2bridge"))
		return;
	if (!plugin)
		check_item(c, CAUSE_REQUIRED, INTERFACES, i, "binding.name",
			   "is missing: say l2bridge");
	else
		check_item(c, CAUSE_NOT_SUPPORTED, INTERFACES, i, "binding.name",
			   "'%.60s' " NOT_YET ": use l2bridge, or bridge: {}", plugin);
}

static void check_model(const struct check *c, size_t i, const char *model)
{
	static const char *const built[] = {"virtio", "e1000e", "e1000", "rtl8139"};
	static const char *const known[] = {"igb", "ne2k_pci", "pcnet"};

	for (size_t k = 0; k < ARRAY_SIZE(built); k++) {
		if (!strcmp(built[k], model))
			return;
	}
	for (size_t k = 0; k < ARRAY_SIZE(known); k++) {
		if (!strcmp(known[k], model)) {
			check_item(c, CAUSE_NOT_SUPPORTED, INTERFACES, i, "model",
				   "%s " NOT_YET ": use virtio, e1000e, e1000 or rtl8139", model);
			return;
		}
	}
	check_item(c, CAUSE_NOT_SUPPORTED, INTERFACES, i, "model",
		   "is '%.60s', must be virtio, e1000e, e1000 or rtl8139", model);
}

static void check_mac(const struct check *c, size_t i, const json_t *ifaces, const char *text)
{
	uint8_t mac[6], other[6];
	struct err err = {0};

	if (mac_parse(text, mac) < 0) {
		check_item(c, CAUSE_INVALID, INTERFACES, i, "macAddress",
			   "is '%.60s', must be six pairs of hex digits such as 02:00:5e:10:00:01",
			   text);
		return;
	}
	if (mac_check(mac, &err) < 0)
		check_item(c, CAUSE_INVALID, INTERFACES, i, "macAddress", "%s", err.msg);
	for (size_t k = 0; k < i; k++) {
		const char *before = json_str(json_array_get(ifaces, k), "macAddress");

		if (before && mac_parse(before, other) == 0 && !memcmp(mac, other, sizeof(mac)))
			check_item(c, CAUSE_INVALID, INTERFACES, i, "macAddress",
				   "is that of " INTERFACES "[%zu], too: give each its own", k);
	}
}

static void check_interface(const struct check *c, size_t i, const json_t *ifaces)
{
	const json_t *iface = json_array_get(ifaces, i);
	const char *name = json_str(iface, "name"), *model = json_str(iface, "model");
	const char *mac = json_str(iface, "macAddress");

	check_binding(c, i, iface);
	if (model)
		check_model(c, i, model);
	if (mac)
		check_mac(c, i, ifaces, mac);
	if (!name) {
		check_item(c, CAUSE_REQUIRED, INTERFACES, i, "name", "is missing");
		return;
	}
	if (!text_ok(name, TEXT_NAME) || strchr(name, '.'))
		check_item(c, CAUSE_INVALID, INTERFACES, i, "name",
			   "is '%.100s', must be at most 63 letters, digits, '-' and '_', no '-' "
			   "or '_' at its ends",
			   name);
	if (find_name(ifaces, name, i))
		check_item(c, CAUSE_DUPLICATE, INTERFACES, i, "name",
			   "'%.63s' is the name of another interface: a network takes one", name);
	if (!find_name(json_get(c->spec, "networks"), name, SIZE_MAX))
		check_item(c, CAUSE_INVALID, INTERFACES, i, "name",
			   "'%.63s' is not the name of a network: add it to networks", name);
}

/* "name" or "namespace/name" of a NetworkAttachmentDefinition. */
static bool network_name_ok(const char *name)
{
	const char *slash = strchr(name, '/');
	_cleanup_free_ char *ns = slash ? xstrndup(name, (size_t)(slash - name)) : NULL;

	if (ns && name_dns1123_label(ns, NULL) < 0)
		return false;
	name = slash ? slash + 1 : name;
	return name_dns1123_subdomain(name, NULL) == 0 && strlen(name) < PLAN_MAX_NAME;
}

static void check_network(const struct check *c, size_t i, const json_t *networks)
{
	const json_t *net = json_array_get(networks, i);
	const char *name = json_str(net, "name"), *nad = json_str(net, "multus.networkName");
	int types = !!json_get(net, "pod") + !!json_get(net, "multus") +
		    !!json_get(net, "resourceClaim");

	if (types != 1)
		check_item(c, CAUSE_REQUIRED, "networks", i, "",
			   "has %d types, must have exactly one: multus: {networkName: NAME}",
			   types);
	if (json_get(net, "pod"))
		check_item(c, CAUSE_NOT_SUPPORTED, "networks", i, "pod",
			   "the pod network " NOT_YET ": " CURE_NO_POD);
	if (json_get(net, "multus") && (!nad || !*nad))
		check_item(c, CAUSE_REQUIRED, "networks", i, "multus.networkName",
			   "is missing: name a NetworkAttachmentDefinition");
	else if (nad && !network_name_ok(nad))
		check_item(c, CAUSE_INVALID, "networks", i, "multus.networkName",
			   "is '%.100s', must be NAME or NAMESPACE/NAME", nad);
	if (!name) {
		check_item(c, CAUSE_REQUIRED, "networks", i, "name", "is missing");
		return;
	}
	if (find_name(networks, name, i))
		check_item(c, CAUSE_DUPLICATE, "networks", i, "name",
			   "'%.63s' is the name of another network", name);
	if (!find_name(json_get(c->spec, INTERFACES), name, SIZE_MAX))
		check_item(c, CAUSE_REQUIRED, "networks", i, "name",
			   "'%.63s' has no interface of that name: add it to " INTERFACES, name);
}

void check_nets(const struct check *c)
{
	const json_t *ifaces = json_get(c->spec, INTERFACES);
	const json_t *networks = json_get(c->spec, "networks");

	for (size_t i = 0; i < json_array_size(ifaces); i++)
		check_interface(c, i, ifaces);
	for (size_t i = 0; i < json_array_size(networks); i++)
		check_network(c, i, networks);
}
