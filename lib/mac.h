// SPDX-License-Identifier: Apache-2.0
/* Guest MAC addresses: text form, what a guest may have, and the stable one made from names. */
#pragma once

#include <stdint.h>

#include "lib/err.h"

#define MAC_TEXT_MAX 18 /* "02:00:5e:10:00:01" with its NUL */

/* Six pairs of hex digits between colons or hyphens, any case. -EINVAL otherwise. */
int mac_parse(const char *text, uint8_t ret[static 6]);

/* Lower case with colons; the result is `buf`. */
char *mac_format(const uint8_t mac[static 6], char buf[static MAC_TEXT_MAX]);

/*
 * May a guest have it? -EINVAL for all zeros, multicast, and fe:…, which marks the host's side of a
 * tap (libvirt and QEMU refuse it in a guest).
 */
int mac_check(const uint8_t mac[static 6], struct err *err);

/* The same address for the same three names at each start: unicast, locally administered, 02:…. */
void mac_derive(const char *ns, const char *name, const char *iface, uint8_t ret[static 6]);
