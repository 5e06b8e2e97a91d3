// SPDX-License-Identifier: Apache-2.0
/*
 * One change to one link per call, in the socket's namespace. All return 0 or the kernel's negative
 * errno, with the link and the change in err. Links of ours in the host carry the alias
 * "virtpod:TAG", so that a leftover can be told from somebody else's link.
 */
#pragma once

#include "lib/err.h"
#include "net/linkinfo.h"

#include <stdbool.h>

#define LINK_ALIAS_PREFIX "virtpod:"
#define LINK_MTU_MIN	  68	/* RFC 791 */
#define LINK_MTU_MAX	  65521 /* a tap's: 65535 less the Ethernet header, as in drivers/net/tun.c */

struct link_new {
	const char *name;
	const char *kind;
	const uint8_t *mac; /* NULL: the kernel's choice */
	unsigned mtu;	    /* 0: the kind's default */
	int master;	    /* 0: none */
	/* kind "veth" only: the other end, same MTU, in a namespace that the caller holds */
	const char *peer_name;
	const uint8_t *peer_mac;
	int peer_netns_fd;
};

/* Create, down. -EEXIST when a name is taken, -EOPNOTSUPP when the kernel lacks the kind. */
int link_add(struct nl_sock *sk, const struct link_new *spec, struct err *err);
int link_delete(struct nl_sock *sk, const struct linkinfo *l, struct err *err);

int link_set_up(struct nl_sock *sk, const struct linkinfo *l, struct err *err);
int link_rename(struct nl_sock *sk, const struct linkinfo *l, const char *name, struct err *err);
int link_set_mac(struct nl_sock *sk, const struct linkinfo *l, const uint8_t mac[static 6],
		 struct err *err);
int link_set_mtu(struct nl_sock *sk, const struct linkinfo *l, unsigned mtu, struct err *err);
int link_set_master(struct nl_sock *sk, const struct linkinfo *l, int master, struct err *err);
int link_set_learning(struct nl_sock *sk, const struct linkinfo *l, bool on, struct err *err);

/* Alias := "virtpod:TAG". */
int link_mark(struct nl_sock *sk, const struct linkinfo *l, const char *tag, struct err *err);

/* Is the alias "virtpod:TAG", or does it go on with a colon after it? */
bool link_is_ours(const struct linkinfo *l, const char *tag);

/*
 * The alias can't be set in the request that makes a link. So a link of ours in the host is made with an
 * address from its name and the root's tag (what is before a ':'), and is known by that until it has one.
 */
void link_own_mac(const char *domain, const char *name, const char *tag, uint8_t ret[static 6]);
bool link_was_born_ours(const struct linkinfo *l, const char *domain, const char *tag);

/* The line of a refusal: `what` was to have this name, who has it, what to do. Returns -EEXIST. */
int link_taken(const struct linkinfo *l, const char *what, const char *cure, struct err *err);

/* A tag that fits an alias: not empty, printable ASCII without blanks. */
int link_check_tag(const char *tag, struct err *err);
int link_check_name(const char *name, struct err *err);
int link_check_mtu(unsigned mtu, struct err *err);
