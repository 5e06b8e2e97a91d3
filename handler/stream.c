// SPDX-License-Identifier: Apache-2.0
#include "handler/stream.h"

#include "handler/k8s_status.h"
#include "handler/selector.h"
#include "handler/watcher.h"

#include "lib/util.h"

#include <errno.h>
#include <sys/epoll.h>

#define BLOCK_BYTES (16 * 1024)

struct stream {
	struct stream *next;
	struct server *s;
	struct MHD_Connection *connection;
	const struct stream_ops *ops;
	void *source; /* owned; NULL: not there yet */
	sd_event_source
		*gone; /* the client's end, which libmicrohttpd does not see while suspended */
	sd_event_source *timeout; /* timeoutSeconds */
	bool suspended;
};

void stream_wake(struct stream *st)
{
	if (st->ops->ended(st->source)) /* from now on a client like any other */
		(void)MHD_set_connection_option(st->connection, MHD_CONNECTION_OPTION_TIMEOUT,
						st->s->options.timeout_seconds);
	if (!st->suspended)
		return;
	st->suspended = false;
	MHD_resume_connection(st->connection);
	server_wake(st->s);
}

/* Events no more; what is left may still be read. */
static void end(struct stream *st)
{
	st->ops->end(st->source);
	stream_wake(st);
}

static ssize_t on_read(void *arg, uint64_t pos, char *buf, size_t max)
{
	struct stream *st = arg;
	ssize_t n = st->ops->read(st->source, buf, max);

	(void)pos;
	if (n < 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (n == 0) {
		st->suspended = true;
		MHD_suspend_connection(st->connection);
	}
	return n;
}

void stream_free(struct stream *st)
{
	for (struct stream **p = &st->s->streams; *p; p = &(*p)->next)
		if (*p == st) {
			*p = st->next;
			break;
		}
	sd_event_source_disable_unref(st->gone);
	sd_event_source_disable_unref(st->timeout);
	if (st->source)
		st->ops->free(st->source);
	free(st);
}

static int on_gone(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	(void)fd;
	(void)events;
	(void)sd_event_source_set_enabled(source,
					  SD_EVENT_OFF); /* level-triggered: it would repeat */
	end(userdata);
	return 0;
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	end(userdata);
	return 0;
}

static int listen_to_client(struct stream *st, uint64_t timeout_seconds)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(st->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	sd_event *event = st->s->h->event;
	int r;

	if (!info)
		return -EIO;
	r = sd_event_add_io(event, &st->gone, info->connect_fd, EPOLLRDHUP, on_gone, st);
	if (r >= 0 && timeout_seconds)
		r = sd_event_add_time_relative(event, &st->timeout, CLOCK_MONOTONIC,
					       timeout_seconds * 1000000, /* accuracy= */ 0,
					       on_timeout, st);
	return r;
}

static void on_free(void *arg)
{
	stream_free(arg);
}

struct stream *stream_new(struct request *r, const struct stream_ops *ops, void *source_consume)
{
	struct stream *st = xcalloc(1, sizeof *st);

	st->s = r->s;
	st->connection = r->connection;
	st->ops = ops;
	st->source = source_consume;
	st->next = r->s->streams;
	r->s->streams = st;
	return st;
}

enum MHD_Result stream_start(struct stream *st_consume, struct request *r, const char *type,
			     uint64_t timeout_seconds)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	if (listen_to_client(st_consume, timeout_seconds) < 0) {
		stream_free(st_consume);
		return MHD_NO;
	}
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, on_read,
						     st_consume, on_free);
	if (!response) {
		stream_free(st_consume);
		return MHD_NO;
	}
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	/* the timeout is off for the rest of this connection */
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	(void)MHD_set_connection_option(r->connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
	result = MHD_queue_response(r->connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return result;
}

static int number_or_zero(const char *text, const char *name, uint64_t *ret, struct err *err)
{
	if (!text || !*text)
		return 0;
	if (call_number(text, ret) < 0)
		return err_set(err, -EINVAL, "%s: '%.40s' is not a number", name, text);
	return 0;
}

static ssize_t watch_read(void *source, char *buf, size_t size)
{
	return watcher_read(source, buf, size);
}

static bool watch_ended(void *source)
{
	return watcher_ended(source);
}

static void watch_end(void *source)
{
	watcher_end(source);
}

static void watch_free(void *source)
{
	watcher_free(source);
}

static void watch_wake(void *arg)
{
	stream_wake(arg);
}

static int open_watcher(struct stream *st, const struct call *c, uint64_t *ret_timeout,
			struct err *err)
{
	struct selector *selector = NULL;
	struct watcher *w = NULL;
	uint64_t since = 0;
	int r = number_or_zero(c->resource_version, "resourceVersion", &since, err);

	if (r == 0)
		r = number_or_zero(c->timeout_seconds, "timeoutSeconds", ret_timeout, err);
	if (r == 0 && *ret_timeout > UINT32_MAX)
		*ret_timeout = UINT32_MAX;
	if (r == 0)
		r = selector_parse(c->route.kind, c->label_selector, c->field_selector, &selector,
				   err);
	if (r == 0)
		r = watcher_new(c->h, c->route.kind, c->route.ns[0] ? c->route.ns : NULL, selector,
				since, watch_wake, st, &w, err);
	st->source = w;
	return r;
}

enum MHD_Result stream_request(struct request *r, const struct call *c)
{
	static const struct stream_ops ops = {
		.read = watch_read, .ended = watch_ended, .end = watch_end, .free = watch_free};
	struct stream *st = stream_new(r, &ops, NULL);
	struct err err = {0};
	json_t *status = NULL;
	uint64_t timeout = 0;
	unsigned code;
	int e = open_watcher(st, c, &timeout, &err);

	if (e == 0)
		return stream_start(st, r, "application/json", timeout);
	stream_free(st);
	code = e == -EINVAL ? k8s_bad_request(&status, "%s", err.msg) : k8s_internal(&status, &err);
	return reply_json(r, code, status);
}

void stream_close_all(struct server *s)
{
	for (struct stream *st = s->streams; st; st = st->next)
		end(st);
}
