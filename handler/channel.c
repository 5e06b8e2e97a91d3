// SPDX-License-Identifier: Apache-2.0
#include "handler/channel.h"

#include "api/wire.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <time.h>

#define MAX_WAITING 32
/* A launcher forwards few events and limits their rate; one that sends more is not ours. */
#define MAX_EVENTS_PER_SECOND 200

struct request {
	json_int_t id; /* 0: free slot */
	channel_reply reply;
	void *arg;
	sd_event_source *timer;
	struct channel *channel;
};

struct channel {
	int fd;
	sd_event *event;
	sd_event_source *source;
	const struct channel_ops *ops;
	void *arg;
	json_int_t last_id;
	struct request waiting[MAX_WAITING];
	uint64_t second;
	unsigned events;
	bool entered; /* a callback of ours runs: whoever frees the channel leaves the memory to us */
	bool dead;    /* freed meanwhile */
};

static void request_forget(struct request *q)
{
	sd_event_source_disable_unref(q->timer);
	*q = (struct request){.channel = q->channel};
}

static void request_answer(struct request *q, int r, const json_t *reply, const struct err *err)
{
	channel_reply fn = q->reply;
	void *arg = q->arg;

	request_forget(q);
	fn(arg, r, reply, err);
}

static void leave(struct channel *c)
{
	if (c->dead && !c->entered)
		free(c);
}

void channel_free(struct channel *c)
{
	struct err err = {0};

	if (!c)
		return;
	c->source = sd_event_source_disable_unref(c->source); /* no new requests from the answers */
	(void)err_set(&err, -ECANCELED, "the channel to the launcher was given up");
	for (int i = 0; i < MAX_WAITING; i++)
		if (c->waiting[i].id)
			request_answer(&c->waiting[i], err.code, NULL, &err);
	c->fd = fd_close(c->fd);
	c->dead = true;
	leave(c);
}

/* Everybody who waits hears of the end, then the owner; any of them may free the channel. */
static void channel_end(struct channel *c, const struct err *err)
{
	c->source = sd_event_source_disable_unref(c->source);
	for (int i = 0; i < MAX_WAITING && !c->dead; i++)
		if (c->waiting[i].id)
			request_answer(&c->waiting[i], err->code, NULL, err);
	if (!c->dead)
		c->ops->closed(c->arg, err);
}

static int take_reply(struct channel *c, const json_t *msg, struct err *err)
{
	json_int_t id = json_integer_value(json_object_get(msg, "id"));
	const json_t *ok = json_object_get(msg, "ok");
	const char *text = json_string_value(json_object_get(msg, "error"));
	char words[900];

	for (int i = 0; i < MAX_WAITING; i++) {
		struct err refusal = {0};
		struct request *q = &c->waiting[i];

		if (!id || q->id != id)
			continue;
		if (json_is_true(ok)) {
			request_answer(q, 0, msg, NULL);
			return 0;
		}
		if (!json_is_false(ok) || !text)
			break;
		/* its words end in a condition and on terminals */
		str_printable(text, words, sizeof words);
		(void)err_set(&refusal, -EREMOTEIO, "%s", words);
		request_answer(q, refusal.code, NULL, &refusal);
		return 0;
	}
	return err_set(err, -EBADMSG, "launcher: a reply to nothing that was asked");
}

static int take_event(struct channel *c, const json_t *msg, struct err *err)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts); /* can't fail for this clock */
	if ((uint64_t)ts.tv_sec != c->second) {
		c->second = (uint64_t)ts.tv_sec;
		c->events = 0;
	}
	if (++c->events > MAX_EVENTS_PER_SECOND)
		return err_set(err, -EBADMSG, "launcher: more than %d events a second",
			       MAX_EVENTS_PER_SECOND);
	c->ops->event(c->arg, msg);
	return 0;
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct channel *c = userdata;
	struct err err = {0};
	json_t *msg = NULL;
	size_t n_fds = 0;
	int r;

	(void)source;
	(void)revents;
	r = wire_recv(fd, &msg, NULL, /* max_fds= */ 0, &n_fds, &err);
	if (r == -EAGAIN)
		return 0;
	if (r == 0)
		r = err_set(&err, -ECONNRESET, "launcher: closed its end of the channel");
	c->entered = true;
	if (r > 0)
		r = json_object_get(msg, "event") ? take_event(c, msg, &err)
						  : take_reply(c, msg, &err);
	json_decref(msg);
	if (r < 0 && !c->dead)
		channel_end(c, &err);
	c->entered = false;
	leave(c);
	return 0;
}

int channel_new(sd_event *event, int fd_consume, const struct channel_ops *ops, void *arg,
		struct channel **ret, struct err *err)
{
	struct channel *c;
	int r;

	if (fcntl(fd_consume, F_SETFL, O_NONBLOCK) < 0) {
		r = err_errno(err, -errno, "channel");
		(void)fd_close(fd_consume);
		return r;
	}
	c = xcalloc(1, sizeof *c);
	*c = (struct channel){.fd = fd_consume, .event = event, .ops = ops, .arg = arg};
	r = sd_event_add_io(event, &c->source, c->fd, EPOLLIN, on_readable, c);
	if (r < 0) {
		channel_free(c);
		return err_errno(err, r, "channel");
	}
	(void)sd_event_source_set_description(c->source, "launcher channel"); /* for traces only */
	for (int i = 0; i < MAX_WAITING; i++)
		c->waiting[i].channel = c;
	*ret = c;
	return 0;
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct request *q = userdata;
	struct err err = {0};

	(void)source;
	(void)usec;
	(void)err_set(&err, -ETIMEDOUT, "launcher: no reply in time");
	request_answer(q, err.code, NULL, &err);
	return 0;
}

int channel_request(struct channel *c, const char *name, json_t *fields_consume, const int *fds,
		    size_t n_fds, unsigned timeout_seconds, channel_reply reply, void *arg,
		    struct err *err)
{
	json_t *msg = fields_consume ? fields_consume : json_object();
	struct request *q = NULL;
	int r;

	for (int i = 0; i < MAX_WAITING && !q; i++)
		if (!c->waiting[i].id)
			q = &c->waiting[i];
	if (!q || !c->source) {
		json_decref(msg);
		return err_set(err, q ? -ENOTCONN : -EBUSY, "launcher: %s",
			       q ? "the channel is closed" : "too many requests wait");
	}
	(void)json_object_set_new(msg, "id", json_integer(++c->last_id));
	(void)json_object_set_new(msg, "request", json_string(name));
	r = wire_send(c->fd, msg, fds, n_fds, err);
	json_decref(msg);
	if (r < 0)
		return r;
	r = sd_event_add_time_relative(c->event, &q->timer, CLOCK_MONOTONIC,
				       (uint64_t)timeout_seconds * 1000000, /* accuracy= */ 100000,
				       on_timeout, q);
	if (r < 0)
		return err_errno(err, r, "launcher: timer");
	q->id = c->last_id;
	q->reply = reply;
	q->arg = arg;
	return 0;
}
