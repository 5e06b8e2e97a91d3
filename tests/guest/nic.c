// SPDX-License-Identifier: Apache-2.0
/* The guest's NICs: static IPv4 addresses by ioctl(2) (netdevice(7)), and what `addr` reports. */
#include "lib/util.h"
#include "tests/guest/guest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int nic_list(char ret_names[NICS_MAX][IF_NAMESIZE])
{
	struct if_nameindex *all = if_nameindex();
	int n = 0;

	for (struct if_nameindex *i = all; i && i->if_index && n < NICS_MAX; i++)
		if (!str_eq(i->if_name, "lo"))
			(void)snprintf(ret_names[n++], IF_NAMESIZE, "%s", i->if_name);
	if (all)
		if_freenameindex(all);
	return n;
}

static void ifreq_init(struct ifreq *ifr, const char *name)
{
	*ifr = (struct ifreq){0};
	(void)snprintf(ifr->ifr_name, sizeof ifr->ifr_name, "%s", name);
}

static void ifreq_set_ipv4(struct ifreq *ifr, struct in_addr address)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_addr = address};

	memcpy(&ifr->ifr_addr, &sin, sizeof sin);
}

int nic_up(const char *name, struct err *err)
{
	_cleanup_fd_ int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq ifr;

	ifreq_init(&ifr, name);
	if (sock < 0 || ioctl(sock, SIOCGIFFLAGS, &ifr) < 0)
		return err_errno(err, -errno, "flags of NIC '%s'", name);
	ifr.ifr_flags |= IFF_UP;
	if (ioctl(sock, SIOCSIFFLAGS, &ifr) < 0)
		return err_errno(err, -errno, "NIC '%s' up", name);
	return 0;
}

static int nic_set_address(const char *name, struct in_addr address, long prefix, struct err *err)
{
	_cleanup_fd_ int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct in_addr mask = {prefix ? htonl(~0U << (32 - prefix)) : 0};
	struct ifreq ifr;

	ifreq_init(&ifr, name);
	ifreq_set_ipv4(&ifr, address);
	if (sock < 0 || ioctl(sock, SIOCSIFADDR, &ifr) < 0)
		return err_errno(err, -errno, "address of NIC '%s'", name);
	ifreq_set_ipv4(&ifr, mask);
	if (ioctl(sock, SIOCSIFNETMASK, &ifr) < 0)
		return err_errno(err, -errno, "prefix of NIC '%s'", name);
	return 0;
}

/* NIC by name, or by its index among those that are not lo. */
static int nic_find(const char *text, char ret_name[IF_NAMESIZE], struct err *err)
{
	char names[NICS_MAX][IF_NAMESIZE];
	int n = nic_list(names);

	for (int i = 0; i < n; i++) {
		char index[12];

		(void)snprintf(index, sizeof index, "%d", i);
		if (!str_eq(text, names[i]) && !str_eq(text, index))
			continue;
		memcpy(ret_name, names[i], IF_NAMESIZE);
		return 0;
	}
	return err_set(err, -ENODEV, "no NIC '%s' among the %d here", text, n);
}

int nic_configure(char *spec, struct err *err)
{
	const char *which = strsep(&spec, "/"), *address = strsep(&spec, "/");
	char name[IF_NAMESIZE];
	struct in_addr in;
	long prefix;
	int r;

	if (!address || !spec)
		return err_set(err, -EINVAL, "'%s' is not NIC/ADDR/PREFIX", which);
	if (inet_pton(AF_INET, address, &in) != 1)
		return err_set(err, -EINVAL, "'%s' is not an IPv4 address", address);
	r = num_parse(spec, "prefix", 0, 32, &prefix, err);
	if (r >= 0)
		r = nic_find(which, name, err);
	if (r >= 0)
		r = nic_set_address(name, in, prefix, err);
	return r < 0 ? r : nic_up(name, err);
}

/* The bare address in network order; returns its length, 0 for other families. */
static size_t address_bytes(const struct sockaddr *sa, unsigned char ret[16])
{
	size_t at = sa->sa_family == AF_INET ? offsetof(struct sockaddr_in, sin_addr)
					     : offsetof(struct sockaddr_in6, sin6_addr);
	size_t len = sa->sa_family == AF_INET ? 4 : sa->sa_family == AF_INET6 ? 16 : 0;

	memcpy(ret, (const char *)sa + at, len);
	return len;
}

static int prefix_of(const struct sockaddr *mask)
{
	unsigned char bytes[16];
	size_t len = address_bytes(mask, bytes);
	int bits = 0;

	for (size_t i = 0; i < len; i++)
		bits += __builtin_popcount(bytes[i]);
	return bits;
}

static void addresses_print(const struct ifaddrs *all, const char *name)
{
	const char *separator = "";

	for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
		char text[INET6_ADDRSTRLEN];
		unsigned char bytes[16];

		if (!str_eq(a->ifa_name, name) || !a->ifa_addr || !a->ifa_netmask ||
		    !address_bytes(a->ifa_addr, bytes) ||
		    !inet_ntop(a->ifa_addr->sa_family, bytes, text, sizeof text))
			continue;
		printf("%s%s/%d", separator, text, prefix_of(a->ifa_netmask));
		separator = ",";
	}
}

int cmd_addr(int argc, char **argv, struct err *err)
{
	struct ifaddrs *all = NULL;

	(void)argc, (void)argv; /* the table's signature */
	if (getifaddrs(&all) < 0)
		return err_errno(err, -errno, "list of addresses");
	for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
		char mac[32], mtu[16], carrier[4];

		/* every NIC has one entry of this family, with or without addresses */
		if (!a->ifa_addr || a->ifa_addr->sa_family != AF_PACKET)
			continue;
		line_read(mac, sizeof mac, "/sys/class/net/%s/address", a->ifa_name);
		line_read(mtu, sizeof mtu, "/sys/class/net/%s/mtu", a->ifa_name);
		/* can't be read while the NIC is down; IFF_RUNNING would lag behind it */
		line_read(carrier, sizeof carrier, "/sys/class/net/%s/carrier", a->ifa_name);
		printf("nic=%s mac=%s mtu=%s up=%d carrier=%s addresses=", a->ifa_name, mac, mtu,
		       !!(a->ifa_flags & IFF_UP), *carrier ? carrier : "0");
		addresses_print(all, a->ifa_name);
		printf("\n");
	}
	freeifaddrs(all);
	return 0;
}
