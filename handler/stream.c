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
	struct watcher *watcher;
	sd_event_source
		*gone; /* the client's end, which libmicrohttpd does not see while suspended */
	sd_event_source *timeout; /* timeoutSeconds */
	bool suspended;
};

static void wake(void *arg)
{
	struct stream *st = arg;

	if (watcher_ended(st->watcher)) /* from now on a client like any other */
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
	watcher_end(st->watcher);
	wake(st);
}

static ssize_t on_read(void *arg, uint64_t pos, char *buf, size_t max)
{
	struct stream *st = arg;
	ssize_t n = watcher_read(st->watcher, buf, max);

	(void)pos;
	if (n < 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (n == 0) {
		st->suspended = true;
		MHD_suspend_connection(st->connection);
	}
	return n;
}

static void stream_free(void *arg)
{
	struct stream *st = arg;

	for (struct stream **p = &st->s->streams; *p; p = &(*p)->next)
		if (*p == st) {
			*p = st->next;
			break;
		}
	sd_event_source_disable_unref(st->gone);
	sd_event_source_disable_unref(st->timeout);
	watcher_free(st->watcher);
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

static enum MHD_Result start(struct stream *st_consume, struct request *r)
{
	struct MHD_Response *response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, BLOCK_BYTES, on_read, st_consume, stream_free);
	enum MHD_Result result;

	if (!response) {
		stream_free(st_consume);
		return MHD_NO;
	}
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
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

static int open_watcher(struct stream *st, const struct call *c, struct err *err)
{
	struct selector *selector = NULL;
	uint64_t since = 0, timeout = 0;
	int r = number_or_zero(c->resource_version, "resourceVersion", &since, err);

	if (r == 0)
		r = number_or_zero(c->timeout_seconds, "timeoutSeconds", &timeout, err);
	if (r == 0 && timeout > UINT32_MAX)
		timeout = UINT32_MAX;
	if (r == 0)
		r = selector_parse(c->route.kind, c->label_selector, c->field_selector, &selector,
				   err);
	if (r == 0)
		r = watcher_new(c->h, c->route.kind, c->route.ns[0] ? c->route.ns : NULL, selector,
				since, wake, st, &st->watcher, err);
	if (r == 0)
		r = listen_to_client(st, timeout);
	return r;
}

enum MHD_Result stream_request(struct request *r, const struct call *c)
{
	struct stream *st = xcalloc(1, sizeof *st);
	struct err err = {0};
	json_t *status = NULL;
	unsigned code;
	int e;

	st->s = r->s;
	st->connection = r->connection;
	st->next = r->s->streams;
	r->s->streams = st;
	e = open_watcher(st, c, &err);
	if (e == 0)
		return start(st, r);
	stream_free(st);
	code = e == -EINVAL ? k8s_bad_request(&status, "%s", err.msg) : k8s_internal(&status, &err);
	return reply_json(r, code, status);
}

void stream_close_all(struct server *s)
{
	for (struct stream *st = s->streams; st; st = st->next)
		end(st);
}
