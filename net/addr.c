// SPDX-License-Identifier: Apache-2.0
#include "net/addr.h"

#include "lib/util.h"
#include "net/nlsock.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/route/addr.h>
#include <string.h>

#define _cleanup_nladdr_   _cleanup_(nladdr_putp)
#define _cleanup_rtnladdr_ _cleanup_(rtnladdr_putp)

static void nladdr_putp(struct nl_addr **a)
{
	nl_addr_put(*a); /* takes NULL */
}

static void rtnladdr_putp(struct rtnl_addr **a)
{
	rtnl_addr_put(*a); /* takes NULL */
}

/* -1 unless text is a plain number of at most `max` */
static int parse_prefix(const char *text, int max)
{
	int value = 0;

	if (!*text || strlen(text) > 3)
		return -1;
	for (; isdigit((unsigned char)*text); text++)
		value = value * 10 + *text - '0';
	return *text || value > max ? -1 : value;
}

/* not nl_addr_parse: it takes "10.9/16", "default" and prefix lengths beyond the address, too */
static int parse(const char *text, struct nl_addr **ret, struct err *err)
{
	int family = strchr(text, ':') ? AF_INET6 : AF_INET;
	size_t size = family == AF_INET6 ? 16 : 4, len = strcspn(text, "/");
	char ip[INET6_ADDRSTRLEN] = "";
	uint8_t bytes[16];
	struct nl_addr *a;
	int prefix = -1;

	if (len < sizeof ip && text[len] == '/') {
		memcpy(ip, text, len);
		prefix = parse_prefix(text + len + 1, (int)size * 8);
	}
	if (prefix < 0 || inet_pton(family, ip, bytes) != 1)
		return err_set(err, -EINVAL,
			       "address '%s': must be an IP address and a prefix length, as in "
			       "10.9.0.254/24",
			       text);
	a = nl_addr_build(family, bytes, size);
	if (!a)
		abort();
	nl_addr_set_prefixlen(a, prefix);
	*ret = a;
	return 0;
}

int addr_parse(const char *text, struct addr *ret, struct err *err)
{
	_cleanup_nladdr_ struct nl_addr *a = NULL;
	char ip[INET6_ADDRSTRLEN];
	int r = parse(text, &a, err);

	if (r < 0)
		return r;
	*ret = (struct addr){.family = nl_addr_get_family(a)};
	if (!inet_ntop(ret->family, nl_addr_get_binary_addr(a), ip, sizeof ip))
		abort();
	(void)snprintf(ret->text, sizeof ret->text, "%s/%u", ip, nl_addr_get_prefixlen(a));
	return 0;
}

struct list {
	struct addr *addrs;
	size_t n;
};

static void on_addr(struct nlmsghdr *nlh, void *arg)
{
	struct list *list = arg;
	struct nlattr *tb[IFA_MAX + 1], *value;
	const struct ifaddrmsg *ifa;
	char ip[INET6_ADDRSTRLEN];
	struct addr *a;

	if (nlh->nlmsg_type != RTM_NEWADDR || nlmsg_parse(nlh, sizeof *ifa, tb, IFA_MAX, NULL) < 0)
		return;
	ifa = nlmsg_data(nlh);
	/* IFA_ADDRESS is the far end where there is one; IFA_LOCAL is absent for plain IPv6 */
	value = tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS];
	if (!value || nla_len(value) < (ifa->ifa_family == AF_INET6 ? 16 : 4) ||
	    !inet_ntop(ifa->ifa_family, nla_data(value), ip, sizeof ip))
		return;
	list->addrs = xrealloc(list->addrs, list->n + 1, sizeof *list->addrs);
	a = &list->addrs[list->n++];
	*a = (struct addr){
		.ifindex = (int)ifa->ifa_index,
		.family = ifa->ifa_family,
		.link_local = ifa->ifa_scope == RT_SCOPE_LINK,
	};
	(void)snprintf(a->text, sizeof a->text, "%s/%u", ip, ifa->ifa_prefixlen);
}

static void list_restart(void *arg)
{
	struct list *list = arg;

	list->n = 0;
}

int addr_list(struct nl_sock *sk, struct addr **ret, size_t *ret_n, struct err *err)
{
	const struct ifaddrmsg ifa = {.ifa_family = AF_UNSPEC};
	struct list list = {0};
	int r = nlsock_dump(sk, RTM_GETADDR, &ifa, sizeof ifa, on_addr, list_restart, &list, err);

	if (r < 0) {
		err_prefix(err, "list addresses");
		free(list.addrs);
		return r;
	}
	*ret = list.addrs;
	*ret_n = list.n;
	return 0;
}

static int build(const struct linkinfo *l, const char *text, struct rtnl_addr **ret,
		 struct err *err)
{
	_cleanup_nladdr_ struct nl_addr *local = NULL;
	_cleanup_rtnladdr_ struct rtnl_addr *a = rtnl_addr_alloc();
	int r = parse(text, &local, err);

	if (!a)
		abort();
	if (r < 0)
		return r;
	rtnl_addr_set_ifindex(a, l->ifindex);
	if (rtnl_addr_set_local(a, local) < 0)
		return err_set(err, -EINVAL, "address '%s': not usable", text);
	if (nl_addr_get_family(local) == AF_INET6)
		rtnl_addr_set_flags(a, IFA_F_NODAD);
	*ret = TAKE_PTR(a);
	return 0;
}

int addr_add(struct nl_sock *sk, const struct linkinfo *l, const char *text, struct err *err)
{
	_cleanup_rtnladdr_ struct rtnl_addr *a = NULL;
	_cleanup_nlmsg_ struct nl_msg *msg = NULL;
	struct err why = {0};
	int r = build(l, text, &a, err);

	if (r < 0)
		return r;
	if (rtnl_addr_build_add_request(a, NLM_F_CREATE | NLM_F_EXCL, &msg) < 0)
		abort();
	r = nlsock_request(sk, msg, NULL, NULL, &why);
	if (r < 0 && r != -EEXIST)
		return err_set(err, r, "link '%s': add address %s: %s", l->name, text, why.msg);
	return 0;
}

static int del(struct nl_sock *sk, const struct linkinfo *l, const char *text, struct err *err)
{
	_cleanup_rtnladdr_ struct rtnl_addr *a = NULL;
	_cleanup_nlmsg_ struct nl_msg *msg = NULL;
	struct err why = {0};
	int r = build(l, text, &a, err);

	if (r < 0)
		return r;
	if (rtnl_addr_build_delete_request(a, 0, &msg) < 0)
		abort();
	r = nlsock_request(sk, msg, NULL, NULL, &why);
	/* it may be gone already: secondary IPv4 addresses go with their primary one */
	if (r < 0 && r != -EADDRNOTAVAIL)
		return err_set(err, r, "link '%s': remove address %s: %s", l->name, text, why.msg);
	return 0;
}

int addr_flush(struct nl_sock *sk, const struct linkinfo *l, const char *keep, struct err *err)
{
	_cleanup_free_ struct addr *addrs = NULL;
	size_t n = 0;
	int r = addr_list(sk, &addrs, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++)
		if (addrs[i].ifindex == l->ifindex && !str_eq(addrs[i].text, keep))
			r = del(sk, l, addrs[i].text, err);
	return r;
}
