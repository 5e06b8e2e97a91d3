// SPDX-License-Identifier: Apache-2.0
#include "net/nlsock.h"

#include "net/netns.h"

#include <errno.h>
#include <netlink/attr.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#define DUMP_TRIES 64 /* each repeat needs a link or address change within the same few µs */

struct answer {
	nlsock_fn fn; /* may be NULL */
	void *arg;
	bool done;
	int error;	/* negative errno of the kernel */
	char text[200]; /* its extended text, "" without one */
};

struct connecting {
	struct nl_sock *sk;
	int protocol;
	int nl_error; /* libnl's own numbers */
};

static int connect_here(void *arg)
{
	struct connecting *c = arg;
	int one = 1, fd;

	c->nl_error = nl_connect(c->sk, c->protocol);
	if (c->nl_error < 0)
		return -EIO;
	fd = nl_socket_get_fd(c->sk);
	/* they make errors richer and where to find that simpler; a kernel without them is fine */
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof one);
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof one);
	return 0;
}

int nlsock_open_protocol(int netns_fd, int protocol, struct nl_sock **ret, struct err *err)
{
	_cleanup_nlsock_ struct nl_sock *sk = nl_socket_alloc();
	struct connecting c = {.sk = sk, .protocol = protocol};
	int r;

	if (!sk)
		abort();
	r = netns_call(netns_fd, connect_here, &c, err);
	if (c.nl_error < 0)
		return err_set(err, r, "open a netlink socket: %s", nl_geterror(c.nl_error));
	if (r < 0)
		return r;
	*ret = TAKE_PTR(sk);
	return 0;
}

int nlsock_open(int netns_fd, struct nl_sock **ret, struct err *err)
{
	return nlsock_open_protocol(netns_fd, NETLINK_ROUTE, ret, err);
}

/* nlmsgerr is followed by attributes, at once because of NETLINK_CAP_ACK */
static void read_extack(const struct nlmsghdr *nlh, const struct nlmsgerr *e, struct answer *a)
{
	size_t at = NLMSG_ALIGN(sizeof *e), len = nlh->nlmsg_len - NLMSG_HDRLEN;
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || !(nlh->nlmsg_flags & NLM_F_CAPPED) || at >= len)
		return;
	if (nla_parse(tb, NLMSGERR_ATTR_MAX, (struct nlattr *)((uintptr_t)e + at), (int)(len - at),
		      NULL) == 0 &&
	    tb[NLMSGERR_ATTR_MSG])
		(void)nla_strlcpy(a->text, tb[NLMSGERR_ATTR_MSG], sizeof a->text);
}

/* An errno negated, as the kernel has them (MAX_ERRNO); -EIO for anything else that is negative. */
static int known_error(int error)
{
	return error >= 0 || error >= -4095 ? error : -EIO;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct answer *a = arg;

	(void)from;
	a->error = known_error(e->error);
	a->done = true;
	/* libnl hands out the payload only; the header lies right before it */
	read_extack((struct nlmsghdr *)((uintptr_t)e - NLMSG_HDRLEN), e, a);
	return NL_STOP;
}

static int on_end(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct answer *a = arg;
	int status = 0;

	a->done = true;
	/* the end of a dump carries the dump's own error */
	if (nlh->nlmsg_type == NLMSG_DONE && nlmsg_datalen(nlh) >= (int)sizeof status)
		memcpy(&status, nlmsg_data(nlh), sizeof status);
	if (status < 0)
		a->error = known_error(status);
	return NL_OK; /* libnl ends here by itself, and must first say if the dump was torn */
}

static int on_message(struct nl_msg *msg, void *arg)
{
	struct answer *a = arg;

	if (a->fn)
		a->fn(nlmsg_hdr(msg), a->arg);
	return NL_OK;
}

/* The socket's own, so that a test can be the kernel, with ours in them. */
static struct nl_cb *callbacks(struct nl_sock *sk, struct answer *a)
{
	struct nl_cb *own = nl_socket_get_cb(sk), *cb = nl_cb_clone(own);

	nl_cb_put(own);
	if (!cb)
		abort();
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, a);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_message, a);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_end, a);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_end, a);
	return cb;
}

int nlsock_request(struct nl_sock *sk, struct nl_msg *msg, nlsock_fn fn, void *arg, struct err *err)
{
	struct answer a = {.fn = fn, .arg = arg};
	struct nl_cb *cb = callbacks(sk, &a);
	int r;

	do
		r = nl_send_auto(sk, msg);
	while (r == -NLE_INTR); /* nothing was sent */
	while (r >= 0 && !a.done)
		r = nl_recvmsgs(sk, cb); /* goes on over EINTR by itself */
	nl_cb_put(cb);
	if (r == -NLE_DUMP_INTR)
		return -EAGAIN; /* for nlsock_dump, which says it if need be */
	if (a.error < 0 && a.text[0])
		return err_set(err, a.error, "%s (%s)", strerror(-a.error), a.text);
	if (a.error < 0)
		return err_set(err, a.error, "%s", strerror(-a.error));
	if (r == -NLE_NOMEM) /* libnl's word for ENOBUFS: the answer was lost */
		return err_set(err, -ENOBUFS, "netlink: the kernel's answer was lost");
	if (!a.done)
		return err_set(err, -EIO, "netlink: %s", nl_geterror(r));
	return 0;
}

int nlsock_dump(struct nl_sock *sk, int type, const void *head, size_t head_len, nlsock_fn fn,
		void (*restart)(void *arg), void *arg, struct err *err)
{
	int r = -EAGAIN;

	for (int i = 0; r == -EAGAIN && i < DUMP_TRIES; i++) {
		_cleanup_nlmsg_ struct nl_msg *msg = nlsock_msg(type, NLM_F_DUMP, head, head_len);

		if (restart)
			restart(arg);
		r = nlsock_request(sk, msg, fn, arg, err);
	}
	if (r == -EAGAIN)
		return err_set(err, r, "links or addresses change faster than they can be read");
	return r;
}

struct nl_msg *nlsock_msg(int type, int flags, const void *head, size_t head_len)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, flags);

	if (!msg || nlmsg_append(msg, (void *)(uintptr_t)head, head_len, NLMSG_ALIGNTO) < 0)
		abort();
	return msg;
}

void nlsock_put(struct nl_msg *msg, int attr, const void *data, size_t len)
{
	if (nla_put(msg, attr, (int)len, data) < 0)
		abort();
}

void nlsock_put_u32(struct nl_msg *msg, int attr, uint32_t value)
{
	nlsock_put(msg, attr, &value, sizeof value);
}

void nlsock_put_text(struct nl_msg *msg, int attr, const char *text)
{
	nlsock_put(msg, attr, text, strlen(text) + 1);
}

struct nlattr *nlsock_nest(struct nl_msg *msg, int attr)
{
	struct nlattr *nest = nla_nest_start(msg, attr);

	if (!nest)
		abort();
	return nest;
}
