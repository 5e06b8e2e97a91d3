// SPDX-License-Identifier: Apache-2.0
#include "launcher/peer.h"

#include "api/wire.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct peer {
	sd_event *event; /* borrowed: outlives this */
	int fd;		 /* -1: no handler */
	int listener;
	sd_event_source *source, *listener_source;
	uint64_t connection; /* number of the present one */
	const struct peer_ops *ops;
	void *arg;
};

static void disconnect(struct peer *p)
{
	p->source = sd_event_source_disable_unref(p->source);
	p->fd = fd_close(p->fd);
}

static void lose(struct peer *p)
{
	disconnect(p);
	p->ops->lost(p->arg);
}

static int send_msg(struct peer *p, const json_t *msg)
{
	struct err err = {0};
	int r;

	if (p->fd < 0)
		return -ENOTCONN;
	r = wire_send(p->fd, msg, NULL, 0, &err);
	if (r < 0 && r != -EAGAIN && r != -EMSGSIZE)
		log_debug("%s, ignoring", err.msg); /* the end of file is handled by the reader */
	return r;
}

int peer_event(struct peer *p, const json_t *event)
{
	return send_msg(p, event);
}

static void send_reply(struct peer *p, const struct reply_to *to, json_t *msg)
{
	_cleanup_json_ json_t *owned = msg;
	struct err err = {0};
	int r;

	if (p->fd < 0 || to->connection != p->connection)
		return;
	(void)json_object_set_new(owned, "id", json_integer(to->id));
	r = send_msg(p, owned);
	if (r == -EMSGSIZE) {
		(void)err_set(&err, r, "the reply would be longer than a frame");
		peer_refuse(p, to, &err);
	} else if (r < 0) {
		/* without its reply the handler would wait for ever: let it connect anew */
		log_warning("handler does not read its replies, disconnected");
		(void)shutdown(p->fd, SHUT_RDWR);
	}
}

void peer_reply(struct peer *p, const struct reply_to *to, json_t *fields)
{
	json_t *msg = fields ? fields : json_object();

	(void)json_object_set_new(msg, "ok", json_true());
	send_reply(p, to, msg);
}

void peer_refuse(struct peer *p, const struct reply_to *to, const struct err *why)
{
	json_t *msg = json_object();

	(void)json_object_set_new(msg, "ok", json_false());
	(void)json_object_set_new(msg, "error", json_string(why->msg));
	send_reply(p, to, msg);
}

static int on_frame(sd_event_source *s, int fd, uint32_t revents, void *arg)
{
	_cleanup_json_ json_t *msg = NULL;
	struct peer *p = arg;
	int fds[SOCK_MAX_FDS];
	size_t n_fds = 0;
	struct reply_to to = {.connection = p->connection};
	struct err err = {0};
	const char *name;
	int r;

	(void)s;
	(void)revents;
	r = wire_recv(fd, &msg, fds, SOCK_MAX_FDS, &n_fds, &err);
	if (r == -EAGAIN)
		return 0;
	if (r == 0) {
		lose(p);
		return 0;
	}
	name = json_str(msg, "request");
	to.id = json_integer_value(json_object_get(msg, "id"));
	if (r > 0 && name && to.id > 0) {
		p->ops->request(p->arg, name, &to, msg, fds, n_fds);
		return 0;
	}
	log_warning("handler: %s, disconnected", r < 0 ? err.msg : "a frame that is no request");
	for (size_t i = 0; i < n_fds; i++)
		(void)fd_close(fds[i]);
	lose(p);
	return 0;
}

static int connect_fd(struct peer *p, int fd_consume)
{
	_cleanup_fd_ int fd = fd_consume;
	int flags = fcntl(fd, F_GETFL), r;

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	r = sd_event_add_io(p->event, &p->source, fd, EPOLLIN, on_frame, p);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(p->source, "handler");
	p->fd = TAKE_FD(fd);
	p->connection++;
	return 0;
}

static int on_connect(sd_event_source *s, int listener, uint32_t revents, void *arg)
{
	struct peer *p = arg;
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), r;

	(void)s;
	(void)revents;
	if (fd < 0)
		return 0; /* it changed its mind */
	disconnect(p);
	r = connect_fd(p, fd);
	if (r < 0) {
		log_warning("new handler: %s, ignoring", strerror(-r));
		p->ops->lost(p->arg);
	}
	return 0;
}

int peer_new(sd_event *event, int channel_consume, int listener_consume, const struct peer_ops *ops,
	     void *arg, struct peer **ret, struct err *err)
{
	struct peer *p = xcalloc(1, sizeof *p);
	int r;

	*p = (struct peer){
		.event = event, .fd = -1, .listener = listener_consume, .ops = ops, .arg = arg};
	r = connect_fd(p, channel_consume);
	if (r >= 0 && fcntl(p->listener, F_SETFL, O_NONBLOCK) < 0)
		r = -errno;
	if (r >= 0)
		r = sd_event_add_io(event, &p->listener_source, p->listener, EPOLLIN, on_connect,
				    p);
	if (r < 0) {
		peer_free(p);
		return err_errno(err, r, "handler's channel");
	}
	(void)sd_event_source_set_description(p->listener_source, "handler-listener");
	*ret = p;
	return 0;
}

void peer_free(struct peer *p)
{
	if (!p)
		return;
	disconnect(p);
	(void)sd_event_source_disable_unref(p->listener_source);
	(void)fd_close(p->listener);
	free(p);
}
