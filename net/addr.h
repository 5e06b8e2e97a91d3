// SPDX-License-Identifier: Apache-2.0
/* IP addresses of links, in the socket's namespace, as text "10.9.0.254/24" or "fd00::1/64". */
#pragma once

#include "lib/err.h"
#include "net/linkinfo.h"

#include <stdbool.h>

#define ADDR_TEXT_MAX 50 /* INET6_ADDRSTRLEN and "/128" */

struct addr {
	int ifindex;
	int family;
	bool link_local;	  /* scope link: made by the kernel as a rule */
	char text[ADDR_TEXT_MAX]; /* always with its prefix length */
};

/* Family and canonical text; -EINVAL with the right form in err. */
int addr_parse(const char *text, struct addr *ret, struct err *err);

/* Every address in the namespace; *ret is the caller's to free. */
int addr_list(struct nl_sock *sk, struct addr **ret, size_t *ret_n, struct err *err);

/* An address that is there already is fine. IPv6 ones skip duplicate detection: usable at once. */
int addr_add(struct nl_sock *sk, const struct linkinfo *l, const char *text, struct err *err);

/* Remove every address, v4 and v6 with link-local ones, but `keep` (may be NULL). */
int addr_flush(struct nl_sock *sk, const struct linkinfo *l, const char *keep, struct err *err);
