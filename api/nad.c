// SPDX-License-Identifier: Apache-2.0
#include "api/nad.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "api/schema.h"
#include "api/text.h"
#include "lib/json.h"

#define CONFIG_MAX  65536
#define MTU_DEFAULT 1500
#define MTU_MIN	    68	  /* IPv4, RFC 791 */
#define MTU_MAX	    65521 /* a tap's: 65535 less the Ethernet header */

/* An address of either family with its prefix length. */
struct cidr {
	int family;
	unsigned bits, prefix;
	uint8_t bytes[16];
};

void network_done(struct network *n)
{
	free(n->bridge);
	free(n->gateway);
	*n = (struct network){0};
}

static bool parse_address(const char *text, struct cidr *ret)
{
	ret->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	ret->bits = ret->family == AF_INET6 ? 128 : 32;
	return inet_pton(ret->family, text, ret->bytes) == 1;
}

static bool parse_cidr(const char *text, struct cidr *ret)
{
	const char *slash = strchr(text, '/');
	_cleanup_free_ char *address = NULL;

	if (!text_ok(text, TEXT_CIDR))
		return false;
	address = xstrndup(text, (size_t)(slash - text));
	ret->prefix = (unsigned)strtoul(slash + 1, NULL, 10);
	return parse_address(address, ret);
}

static bool bit(const struct cidr *c, unsigned i)
{
	return c->bytes[i / 8] >> (7 - i % 8) & 1;
}

static bool same_subnet(const struct cidr *a, const struct cidr *b)
{
	if (a->family != b->family)
		return false;
	for (unsigned i = 0; i < a->prefix; i++) {
		if (bit(a, i) != bit(b, i))
			return false;
	}
	return true;
}

/* The subnet's lowest host: the network's address plus one. */
static void first_host(struct cidr *c)
{
	for (unsigned i = c->prefix; i < c->bits; i++)
		c->bytes[i / 8] &= (uint8_t) ~(0x80 >> i % 8);
	c->bytes[c->bits / 8 - 1] |= 1;
}

static char *format_cidr(const struct cidr *c)
{
	char text[INET6_ADDRSTRLEN];

	if (!inet_ntop(c->family, c->bytes, text, sizeof(text)))
		return NULL; /* both families fit */
	return xasprintf("%s/%u", text, c->prefix);
}

/* Refuse members that are not in `known`; those in `off` may be there as false. */
static int check_members(const json_t *obj, const char *where, const char *const *known,
			 const char *const *off, const char *what, struct err *err)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)obj, key, value) {
		bool fine = json_is_null(value);

		for (size_t i = 0; known[i] && !fine; i++)
			fine = !strcmp(known[i], key);
		for (size_t i = 0; off && off[i] && !fine; i++)
			fine = !strcmp(off[i], key) && json_is_false(value);
		if (!fine)
			return err_set(err, -EINVAL, "spec.config: %s%.60s " NOT_YET ": %s", where,
				       key, what);
	}
	return 0;
}

/* An address that a host can have on a bridge: of one host, not loopback or multicast. */
static bool is_host_address(const struct cidr *c)
{
	bool zeros = true, ones = true;

	for (unsigned i = c->prefix; i < c->bits; i++) {
		bool set = c->bytes[i / 8] & 0x80 >> i % 8;

		zeros &= !set;
		ones &= set;
	}
	if (c->family == AF_INET6)
		return !zeros && c->bytes[0] != 0xff;
	return !zeros && !ones && c->bytes[0] != 0 && c->bytes[0] != 127 && c->bytes[0] < 224;
}

static int decode_address(const json_t *entry, char **ret, struct err *err)
{
	static const char *const known[] = {"address", "gateway", NULL};
	const char *address = json_str(entry, "address"), *gateway = json_str(entry, "gateway");
	struct cidr subnet = {0}, host = {0};
	int r;

	if (!address || !parse_cidr(address, &subnet))
		return err_set(err, -EINVAL,
			       "spec.config: ipam.addresses[0].address: is '%.60s', must be an "
			       "address with prefix length such as 10.10.0.1/24",
			       address ? address : "");
	r = check_members(entry, "ipam.addresses[0].", known, NULL, "address and gateway are", err);
	if (r < 0)
		return r;
	if (subnet.prefix > subnet.bits - 2)
		return err_set(err, -EINVAL,
			       "spec.config: ipam.addresses[0].address: '%.60s' leaves no room for "
			       "the gateway and a guest: use a shorter prefix",
			       address);
	host = subnet;
	if (gateway) {
		if (!parse_address(gateway, &host) || !same_subnet(&subnet, &host))
			return err_set(
				err, -EINVAL,
				"spec.config: ipam.addresses[0].gateway: is '%.60s', must be "
				"an address inside %.60s",
				gateway, address);
	} else {
		first_host(&host);
	}
	if (!is_host_address(&host))
		return err_set(
			err, -EINVAL,
			"spec.config: ipam.addresses[0]: the bridge would get '%.60s', which "
			"is no address of a host: use one between the network's and the "
			"broadcast address",
			gateway ? gateway : address);
	*ret = format_cidr(&host);
	return 0;
}

static int decode_ipam(const json_t *ipam, bool is_gateway, char **ret, struct err *err)
{
	static const char *const known[] = {"type", "addresses", NULL};
	const json_t *addresses = json_object_get(ipam, "addresses");
	const char *type = json_str(ipam, "type");
	int r;

	if (!type && json_object_size(ipam) == 0) {
		if (is_gateway)
			return err_set(err, -EINVAL,
				       "spec.config: isGateway: needs ipam of type static with the "
				       "bridge's address");
		return 0;
	}
	if (!type || strcmp(type, "static") != 0)
		return err_set(err, -EINVAL,
			       "spec.config: ipam.type: '%.60s' " NOT_YET
			       ": use static with isGateway, or leave ipam out and set the guest's "
			       "addresses in the guest",
			       type ? type : "");
	r = check_members(ipam, "ipam.", known, NULL, "type and addresses are", err);
	if (r < 0)
		return r;
	if (!is_gateway)
		return err_set(err, -EINVAL,
			       "spec.config: ipam: static addresses serve the host's bridge only: "
			       "say isGateway: true, or leave ipam out");
	if (json_array_size(addresses) != 1)
		return err_set(err, -EINVAL,
			       "spec.config: ipam.addresses: must be a list of one address");
	return decode_address(json_array_get(addresses, 0), ret, err);
}

static int check_type(const json_t *config, struct err *err)
{
	const char *type = json_str(config, "type");

	if (json_object_get(config, "plugins"))
		return err_set(err, -EINVAL,
			       "spec.config: plugins (a chain) " NOT_YET
			       ": write the bridge plugin's fields at the top");
	if (!type)
		return err_set(err, -EINVAL, "spec.config: type: is missing; say bridge");
	if (!strcmp(type, "cnv-bridge"))
		return err_set(err, -EINVAL,
			       "spec.config: type: cnv-bridge " NOT_YET ": bridge is the same");
	if (strcmp(type, "bridge") != 0)
		return err_set(err, -EINVAL, "spec.config: type: '%.60s' " NOT_YET ": use bridge",
			       type);
	return 0;
}

static int decode_mtu(const json_t *mtu, unsigned *ret, struct err *err)
{
	json_int_t n = mtu ? json_integer_value(mtu) : MTU_DEFAULT;

	if (n == 0 && json_is_integer(mtu))
		n = MTU_DEFAULT; /* CNI's own "not given" */
	if (mtu && !json_is_integer(mtu) && !json_is_null(mtu))
		return err_set(
			err, -EINVAL,
			"spec.config: mtu: must be a whole number from %d to %d, without quotes",
			MTU_MIN, MTU_MAX);
	if (json_is_null(mtu))
		n = MTU_DEFAULT;
	if (n < MTU_MIN || n > MTU_MAX)
		return err_set(err, -EINVAL,
			       "spec.config: mtu: is %" JSON_INTEGER_FORMAT
			       ", must be a number from %d to %d",
			       n, MTU_MIN, MTU_MAX);
	*ret = (unsigned)n;
	return 0;
}

static int decode(const json_t *config, struct network *n, struct err *err)
{
	static const char *const known[] = {"cniVersion", "name",      "type", "bridge",
					    "mtu",	  "isGateway", "ipam", NULL};
	static const char *const off[] = {
		"ipMasq",	    "hairpinMode", "promiscMode", "forceAddress",
		"isDefaultGateway", "macspoofchk", NULL};
	const json_t *bridge = json_object_get(config, "bridge");
	const json_t *gateway = json_object_get(config, "isGateway");
	int r = check_type(config, err);

	if (r == 0)
		r = check_members(config, "", known, off,
				  "cniVersion, name, type, bridge, mtu, isGateway and ipam are",
				  err);
	if (r == 0)
		r = decode_mtu(json_object_get(config, "mtu"), &n->mtu, err);
	if (r < 0)
		return r;
	if (bridge && (!json_is_string(bridge) || !text_ok(json_string_value(bridge), TEXT_LINK)))
		return err_set(err, -EINVAL,
			       "spec.config: bridge: must be a link's name: at most 15 characters, "
			       "no '/', ':' or space");
	if (gateway && !json_is_boolean(gateway))
		return err_set(err, -EINVAL, "spec.config: isGateway: must be true or false");
	n->bridge = xstrdup(json_string_value(bridge));
	return decode_ipam(json_object_get(config, "ipam"), json_is_true(gateway), &n->gateway,
			   err);
}

int nad_decode(const json_t *nad, struct network *ret, struct err *err)
{
	const char *text = json_str(nad, "spec.config");
	_cleanup_(network_done) struct network n = {0};
	_cleanup_json_ json_t *config = NULL;
	int r;

	if (!text || !*text)
		return err_set(err, -EINVAL,
			       "spec.config: is missing: it holds the CNI configuration as JSON");
	r = json_parse(text, strlen(text), CONFIG_MAX, &config, err);
	if (r < 0) {
		err_prefix(err, "spec.config");
		return r;
	}
	if (!json_is_object(config))
		return err_set(err, -EINVAL, "spec.config: must be a JSON object");
	r = decode(config, &n, err);
	if (r < 0)
		return r;
	*ret = n;
	n = (struct network){0};
	return 0;
}
