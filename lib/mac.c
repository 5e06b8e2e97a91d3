// SPDX-License-Identifier: Apache-2.0
#include "lib/mac.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int mac_parse(const char *text, uint8_t ret[static 6])
{
	uint8_t mac[6];

	for (int i = 0; i < 6; i++) {
		int hi = hex_value(text[0]);
		int lo = hi < 0 ? -1 : hex_value(text[1]);

		if (lo < 0)
			return -EINVAL;
		mac[i] = (uint8_t)(hi << 4 | lo);
		text += 2;
		if (i < 5 && *text != ':' && *text != '-')
			return -EINVAL;
		if (i < 5)
			text++;
	}
	if (*text)
		return -EINVAL;
	memcpy(ret, mac, sizeof(mac));
	return 0;
}

char *mac_format(const uint8_t mac[static 6], char buf[static MAC_TEXT_MAX])
{
	(void)snprintf(buf, MAC_TEXT_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		       mac[3], mac[4], mac[5]);
	return buf;
}

int mac_check(const uint8_t mac[static 6], struct err *err)
{
	static const uint8_t zero[6];
	char text[MAC_TEXT_MAX];

	if (!memcmp(mac, zero, sizeof(zero)))
		return err_set(err, -EINVAL, "MAC address 00:00:00:00:00:00 names no interface");
	if (mac[0] & 1)
		return err_set(err, -EINVAL,
			       "MAC address %s is a multicast address: the first byte must be even",
			       mac_format(mac, text));
	if (mac[0] == 0xfe)
		return err_set(err, -EINVAL,
			       "MAC address %s begins with fe, which is kept for the host's taps: "
			       "begin with 02 instead",
			       mac_format(mac, text));
	return 0;
}

/* FNV-1a, 64 bits, with the terminating NUL so that ("a", "bc") and ("ab", "c") differ. */
static uint64_t hash_text(uint64_t h, const char *s)
{
	do {
		h ^= (uint8_t)*s;
		h *= 0x100000001b3;
	} while (*s++);
	return h;
}

void mac_derive(const char *ns, const char *name, const char *iface, uint8_t ret[static 6])
{
	uint64_t h = hash_text(hash_text(hash_text(0xcbf29ce484222325, ns), name), iface);

	/* FNV mixes its last bytes badly into the upper bits: fold them (splitmix64's finaliser) */
	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9;
	h = (h ^ h >> 27) * 0x94d049bb133111eb;
	h ^= h >> 31;
	ret[0] = 0x02;
	for (int i = 1; i < 6; i++)
		ret[i] = (uint8_t)(h >> (8 * i));
	/* 02:00:00:00:00:00 is the bridge's own address under KubeVirt's masquerade binding */
	if (!(ret[1] | ret[2] | ret[3] | ret[4] | ret[5]))
		ret[5] = 1;
}
