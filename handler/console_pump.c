// SPDX-License-Identifier: Apache-2.0
/*
 * Bytes between a WebSocket and the pod's console socket, in one loop's callbacks. Neither side is read
 * while the other has CONSOLE_BUFFER or more waiting: a guest that floods, a client that does not read
 * and a client that pings without end all cost a bounded amount of memory.
 */
#include "handler/console_internal.h"

#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define READ_BYTES	4096
#define LINGER_SECONDS	30  /* for the client to read the rest and answer our Close */
#define QUEUED_MSGS_MAX 256 /* pongs are short, their bookkeeping is not */

static void finish(struct console *c)
{
	struct MHD_UpgradeResponseHandle *upgrade = c->upgrade;
	struct server *s = c->s;

	console_free(c);
	(void)MHD_upgrade_action(upgrade, MHD_UPGRADE_ACTION_CLOSE);
	server_wake(s);
}

static bool client_is_full(const struct console *c)
{
	return wslay_event_get_queued_msg_length(c->ws) >= CONSOLE_BUFFER ||
	       wslay_event_get_queued_msg_count(c->ws) >= QUEUED_MSGS_MAX;
}

/* wslay reads READ_BYTES at most at once: as much as a callback can bring. */
static bool pod_is_full(const struct console *c)
{
	return sizeof c->to_pod - c->to_pod_len < READ_BYTES;
}

static ssize_t on_ws_recv(wslay_event_context_ptr ws, uint8_t *buf, size_t len, int flags,
			  void *userdata)
{
	struct console *c = userdata;
	ssize_t n;

	(void)flags;
	if (pod_is_full(c) || client_is_full(c)) {
		wslay_event_set_error(ws, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	len = len < READ_BYTES ? len : READ_BYTES;
	if (c->early_begin < c->early_len) {
		size_t rest = c->early_len - c->early_begin;

		len = len < rest ? len : rest;
		memcpy(buf, c->early + c->early_begin, len);
		c->early_begin += len;
		return (ssize_t)len;
	}
	do
		n = recv(c->client_fd, buf, len, 0);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		return n;
	if (n < 0 && errno == EAGAIN) {
		wslay_event_set_error(ws, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	c->client_ended = true;
	wslay_event_set_error(ws, WSLAY_ERR_CALLBACK_FAILURE);
	return -1;
}

static ssize_t on_ws_send(wslay_event_context_ptr ws, const uint8_t *data, size_t len, int flags,
			  void *userdata)
{
	struct console *c = userdata;
	ssize_t n;

	(void)flags;
	do
		n = send(c->client_fd, data, len, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		return n;
	if (errno == EAGAIN) {
		wslay_event_set_error(ws, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	c->client_ended = true;
	wslay_event_set_error(ws, WSLAY_ERR_CALLBACK_FAILURE);
	return -1;
}

static void on_frame_start(wslay_event_context_ptr ws,
			   const struct wslay_event_on_frame_recv_start_arg *arg, void *userdata)
{
	struct console *c = userdata;

	(void)ws;
	c->control = arg->opcode >= WSLAY_CONNECTION_CLOSE; /* close, ping and pong */
}

static void on_frame_chunk(wslay_event_context_ptr ws,
			   const struct wslay_event_on_frame_recv_chunk_arg *arg, void *userdata)
{
	struct console *c = userdata;

	(void)ws;
	if (c->control || c->pod_ended)
		return;
	if (arg->data_length > sizeof c->to_pod - c->to_pod_len) {
		c->client_ended = true; /* on_ws_recv leaves room for what it reads: can't be */
		return;
	}
	memcpy(c->to_pod + c->to_pod_len, arg->data, arg->data_length);
	c->to_pod_len += arg->data_length;
}

static void end_of_pod(struct console *c)
{
	if (c->pod_ended)
		return;
	c->pod_ended = true;
	c->to_pod_len = 0;
	(void)sd_event_source_set_time_relative(c->linger, LINGER_SECONDS * 1000000ull);
	(void)sd_event_source_set_enabled(c->linger, SD_EVENT_ONESHOT);
}

static void write_pod(struct console *c)
{
	while (c->to_pod_len && !c->pod_ended) {
		ssize_t n = send(c->pod_fd, c->to_pod, c->to_pod_len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			end_of_pod(c);
			return;
		}
		c->to_pod_len -= (size_t)n;
		memmove(c->to_pod, c->to_pod + n, c->to_pod_len);
	}
}

static void read_pod(struct console *c)
{
	uint8_t buf[READ_BYTES];

	while (!c->pod_ended && !client_is_full(c)) {
		ssize_t n = recv(c->pod_fd, buf, sizeof buf, 0);
		struct wslay_event_msg msg = {.opcode = WSLAY_BINARY_FRAME, .msg = buf};

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			end_of_pod(c);
			return;
		}
		msg.msg_length = (size_t)n;
		if (wslay_event_queue_msg(c->ws, &msg) != 0)
			return; /* a Close is on its way */
	}
}

/* Which events matter now follows from what is full. */
static void arm(struct console *c)
{
	uint32_t client = 0, pod = 0;

	if (wslay_event_want_read(c->ws) && !pod_is_full(c) && !client_is_full(c))
		client |= EPOLLIN;
	if (wslay_event_want_write(c->ws))
		client |= EPOLLOUT;
	if (!c->pod_ended && !client_is_full(c))
		pod |= EPOLLIN;
	if (c->to_pod_len)
		pod |= EPOLLOUT;
	(void)sd_event_source_set_io_events(c->client_io, client);
	(void)sd_event_source_set_io_events(c->pod_io, pod);
	/* a hangup is reported whether asked for or not, and would be again and again */
	(void)sd_event_source_set_enabled(c->pod_io, pod ? SD_EVENT_ON : SD_EVENT_OFF);
}

/* Nothing more will go either way, or nobody is there any more. */
static bool is_over(const struct console *c)
{
	if (c->client_ended)
		return true;
	if (wslay_event_want_write(c->ws))
		return false;
	return !wslay_event_get_read_enabled(c->ws) || !wslay_event_get_write_enabled(c->ws) ||
	       (wslay_event_get_close_sent(c->ws) && wslay_event_get_close_received(c->ws));
}

/* Move what can be moved; the console may be gone afterwards. */
static void pump(struct console *c)
{
	(void)wslay_event_recv(c->ws); /* its errors show in what is_over looks at */
	write_pod(c);
	read_pod(c);
	(void)wslay_event_send(c->ws);
	/* a Close would overtake what the guest wrote last */
	if (c->pod_ended && !wslay_event_want_write(c->ws) &&
	    wslay_event_queue_close(c->ws, WSLAY_CODE_NORMAL_CLOSURE, NULL, 0) == 0)
		(void)wslay_event_send(c->ws);
	if (is_over(c)) {
		finish(c);
		return;
	}
	arm(c);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct console *c = userdata;

	(void)source;
	/* what a client sent before it left is still read, where there is room for it */
	if (fd == c->client_fd && (events & (EPOLLHUP | EPOLLERR)) &&
	    (pod_is_full(c) || client_is_full(c)))
		c->client_ended = true;
	pump(c);
	return 0;
}

static int on_linger(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	finish(userdata);
	return 0;
}

static int open_pump(struct console *c)
{
	static const struct wslay_event_callbacks callbacks = {
		.recv_callback = on_ws_recv,
		.send_callback = on_ws_send,
		.on_frame_recv_start_callback = on_frame_start,
		.on_frame_recv_chunk_callback = on_frame_chunk,
	};
	sd_event *event = c->s->h->event;
	int flags = fcntl(c->client_fd, F_GETFL), r;

	if (flags < 0 || fcntl(c->client_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	if (wslay_event_context_server_init(&c->ws, &callbacks, c) != 0)
		return -ENOMEM;
	/* a frame may be of any length: it is passed on in pieces, never kept whole */
	wslay_event_config_set_no_buffering(c->ws, 1);
	r = sd_event_add_io(event, &c->client_io, c->client_fd, EPOLLIN, on_io, c);
	if (r >= 0)
		r = sd_event_add_io(event, &c->pod_io, c->pod_fd, EPOLLIN, on_io, c);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &c->linger, CLOCK_MONOTONIC, 0, 0, on_linger,
					       c);
	if (r >= 0)
		r = sd_event_source_set_enabled(c->linger, SD_EVENT_OFF);
	return r;
}

void console_pump_start(struct console *c)
{
	int r = open_pump(c);

	if (r < 0) {
		log_error("console: %s", strerror(-r));
		finish(c);
		return;
	}
	pump(c);
}
