// SPDX-License-Identifier: Apache-2.0
#include "handler/server_internal.h"

#include "handler/call.h"
#include "handler/console.h"
#include "handler/dispatch.h"
#include "handler/k8s_status.h"
#include "handler/namespaces.h"
#include "handler/report.h"
#include "handler/stream.h"
#include "handler/vms.h"
#include "handler/watcher.h"

#include "lib/log.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOCKET_NAME "handler.sock"

/* libmicrohttpd's own words about clients that break off or send nonsense. */
__attribute__((format(printf, 2, 0))) static void on_log(void *arg, const char *fmt, va_list ap)
{
	_cleanup_free_ char *text = NULL;

	(void)arg;
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL; /* undefined after a failure */
	else
		log_debug("HTTP: %.*s", (int)strcspn(text, "\n"), text);
}

static unsigned connections(const struct server *s)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info ? info->num_connections : 0;
}

static void run(struct server *s)
{
	bool full = connections(s) >= s->options.connections;
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_run(s->daemon) != MHD_YES)
		log_error("HTTP: the server's loop failed");
	/* at its bound libmicrohttpd does not listen, and begins again only when it is run anew */
	if (full && connections(s) < s->options.connections)
		(void)MHD_run(s->daemon);
	if (MHD_get_timeout(s->daemon, &ms) != MHD_YES) {
		(void)sd_event_source_set_enabled(s->timer, SD_EVENT_OFF);
		return;
	}
	(void)sd_event_source_set_time_relative(s->timer, ms * 1000);
	(void)sd_event_source_set_enabled(s->timer, SD_EVENT_ONESHOT);
}

void server_wake(struct server *s)
{
	(void)sd_event_source_set_time_relative(s->timer, 0);
	(void)sd_event_source_set_enabled(s->timer, SD_EVENT_ONESHOT);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	(void)source;
	(void)fd;
	(void)events;
	run(userdata);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	run(userdata);
	return 0;
}

/* The socket's mode lets in nobody else; a descriptor that was handed on would. */
static bool peer_allowed(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct sock_peer peer;

	if (!info || sock_peer(info->connect_fd, &peer) < 0)
		return false;
	return peer.uid == 0 || peer.uid == geteuid();
}

static bool announces_too_much(const struct request *r)
{
	const char *length = request_header(r, MHD_HTTP_HEADER_CONTENT_LENGTH);
	uint64_t n;

	return length && call_number(length, &n) == 0 && n > CALL_BODY_MAX;
}

static enum MHD_Result reply_too_big(struct request *r)
{
	json_t *status = NULL;
	unsigned code = k8s_failure(&status, 413, "RequestEntityTooLarge",
				    "Request entity too large: limit is %u bytes", CALL_BODY_MAX);

	return reply_json(r, code, status);
}

/* The header is here, the body not yet: what can be refused already is. */
static enum MHD_Result begin(struct request *r)
{
	json_t *status = NULL;
	unsigned code;

	if (!peer_allowed(r->connection)) {
		code = k8s_failure(&status, 403, "Forbidden",
				   "only root and the user that runs virt-handler may use this "
				   "socket");
		return reply_json(r, code, status);
	}
	return announces_too_much(r) ? reply_too_big(r) : MHD_YES;
}

static void take(struct request *r, const char *data, size_t len)
{
	if (r->len + len > CALL_BODY_MAX)
		r->too_big = true;
	if (r->too_big)
		return;
	if (r->size - r->len < len) {
		r->size = (r->len + len) * 2;
		r->body = xrealloc(r->body, r->size, 1);
	}
	memcpy(r->body + r->len, data, len);
	r->len += len;
}

/* Called for the header, then for each piece of the body, at last with no more data. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *data_len, void **request)
{
	struct request *r = *request;

	(void)version;
	if (!r) {
		r = xcalloc(1, sizeof *r);
		r->s = arg;
		r->connection = connection;
		*request = r;
		return begin(r);
	}
	if (*data_len) {
		take(r, data, *data_len);
		*data_len = 0;
		return MHD_YES;
	}
	if (r->s->closing) /* it was suspended: there will be no answer */
		return MHD_NO;
	if (r->too_big)
		return reply_too_big(r);
	if (r->console) /* the launcher has answered meanwhile */
		return console_answered(r);
	return dispatch(r, method, url);
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **request,
			 enum MHD_RequestTerminationCode how)
{
	struct request *r = *request;

	(void)arg;
	(void)connection;
	(void)how;
	if (!r)
		return;
	*request = NULL;
	if (r->console)
		console_free(r->console); /* the client left before its upgrade */
	report_forget(r);
	free(r->body);
	free(r);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * %XX in place, but NUL, which would cut the text, and in a path the slash, which would split a name:
 * these stay as they are, and name nothing. No object's name needs either; a label's key in a query has a
 * slash. A path begins with one, a query's parts never do.
 */
static size_t unescape(void *cls, struct MHD_Connection *connection, char *s)
{
	bool path = *s == '/';
	char *to = s;

	(void)cls;
	(void)connection;
	for (char *p = s; *p; p++) {
		int high = *p == '%' ? hex_digit(p[1]) : -1;
		int low = high >= 0 ? hex_digit(p[2]) : -1;
		int c = low >= 0 ? high * 16 + low : 0;

		if (c == 0 || (path && c == '/')) {
			*to++ = *p;
			continue;
		}
		*to++ = (char)c;
		p += 2;
	}
	*to = 0;
	return (size_t)(to - s);
}

static int start_daemon(struct server *s, int listen_fd_consume, struct err *err)
{
	const union MHD_DaemonInfo *info;
	int r;

	s->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_UPGRADE | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
		NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
		MHD_OPTION_LISTEN_SOCKET, listen_fd_consume, MHD_OPTION_CONNECTION_LIMIT,
		s->options.connections, MHD_OPTION_CONNECTION_TIMEOUT, s->options.timeout_seconds,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVER_CONNECTION_MEMORY,
		MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
	if (!s->daemon) {
		(void)fd_close(listen_fd_consume);
		return err_set(err, -EIO, "%s/" SOCKET_NAME ": the HTTP server does not start",
			       s->h->paths.run);
	}
	info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return err_set(err, -EIO, "HTTP server: no epoll descriptor");
	r = sd_event_add_io(s->h->event, &s->io, info->epoll_fd, EPOLLIN, on_io, s);
	if (r >= 0)
		r = sd_event_add_time_relative(s->h->event, &s->timer, CLOCK_MONOTONIC, 0,
					       /* accuracy= */ 1000, on_timer, s);
	if (r < 0)
		return err_errno(err, r, "event loop");
	(void)sd_event_source_set_description(s->io, "http");
	(void)sd_event_source_set_description(s->timer, "http-timer");
	return 0;
}

int server_open_with(struct handler *h, const struct server_options *options, struct err *err)
{
	struct server *s = xcalloc(1, sizeof *s);
	int r, fd;

	s->h = h;
	s->options = *options;
	h->server = s;
	r = namespaces_init(h, err);
	s->node_version = store_version(h->store);
	if (r == 0)
		r = watch_open(h, err);
	if (r == 0) {
		r = sock_listen_at(h->paths.run_fd, SOCKET_NAME, SOCK_STREAM | SOCK_NONBLOCK, &fd);
		if (r < 0)
			(void)err_errno(err, r, "%s/" SOCKET_NAME, h->paths.run);
	}
	if (r == 0)
		r = start_daemon(s, fd, err);
	if (r < 0)
		server_close(h);
	return r;
}

void server_close(struct handler *h)
{
	struct server *s = h->server;

	if (!s)
		return;
	s->closing = true;
	stream_close_all(s);
	console_close_all(s);
	report_close_all(s);
	if (s->daemon) {
		(void)unlinkat(h->paths.run_fd, SOCKET_NAME,
			       0);	  /* a next handler replaces it, too */
		(void)MHD_run(s->daemon); /* what was suspended must be resumed before the stop */
		MHD_stop_daemon(s->daemon);
	}
	sd_event_source_disable_unref(s->io);
	sd_event_source_disable_unref(s->timer);
	vms_close(h);
	watch_close(h);
	h->server = NULL;
	free(s);
}

bool server_idle(const struct handler *h)
{
	return connections(h->server) == 0;
}
