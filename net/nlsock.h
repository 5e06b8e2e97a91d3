// SPDX-License-Identifier: Apache-2.0
/*
 * Transport: one request and its answer over a netlink socket. libnl builds and frames the
 * messages and checks sequence numbers; the kernel's own errno and its extended text are kept.
 * Nothing here waits for long: the kernel answers before sendmsg returns.
 */
#pragma once

#include "lib/err.h"
#include "lib/util.h"

#include <netlink/msg.h>
#include <netlink/netlink.h>

#define _cleanup_nlsock_ _cleanup_(nlsock_closep)
#define _cleanup_nlmsg_	 _cleanup_(nlmsg_freep)

typedef void (*nlsock_fn)(struct nlmsghdr *nlh, void *arg);

/* A socket in the namespace (-1: this one), CLOEXEC; it stays there whoever uses it. */
int nlsock_open(int netns_fd, struct nl_sock **ret, struct err *err);

/* The same of another protocol: NETLINK_NETFILTER, say. */
int nlsock_open_protocol(int netns_fd, int protocol, struct nl_sock **ret, struct err *err);

/*
 * Send msg (borrowed) and wait for its acknowledgement; fn (may be NULL) gets each message of the
 * answer. Returns 0 or the kernel's negative errno; err then reads "File exists (extack text)".
 * After -EIO (transport) or -ENOBUFS the socket is of no more use: whether the change was made is
 * for the caller's next look.
 */
int nlsock_request(struct nl_sock *sk, struct nl_msg *msg, nlsock_fn fn, void *arg,
		   struct err *err);

/*
 * Dump: `type` is RTM_GETLINK, RTM_GETADDR or the like, `head` its fixed header. A dump that changed while
 * it was read is repeated from the start: `restart` (may be NULL) is called before each attempt.
 */
int nlsock_dump(struct nl_sock *sk, int type, const void *head, size_t head_len, nlsock_fn fn,
		void (*restart)(void *arg), void *arg, struct err *err);

/* A new request; aborts when memory is out. */
struct nl_msg *nlsock_msg(int type, int flags, const void *head, size_t head_len);

/* Append an attribute; aborts if the message is full: all of ours fit by their own limits. */
void nlsock_put(struct nl_msg *msg, int attr, const void *data, size_t len);
void nlsock_put_u32(struct nl_msg *msg, int attr, uint32_t value);
void nlsock_put_text(struct nl_msg *msg, int attr, const char *text);
struct nlattr *nlsock_nest(struct nl_msg *msg, int attr); /* closed by nla_nest_end() */

static inline void nlsock_closep(struct nl_sock **sk)
{
	nl_socket_free(*sk); /* takes NULL */
}

static inline void nlmsg_freep(struct nl_msg **msg)
{
	nlmsg_free(*msg); /* takes NULL */
}
