// SPDX-License-Identifier: Apache-2.0
#include "cmd/ws.h"

#include "cmd/ws_handshake.h"

#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <wslay/wslay.h>

#define MESSAGE_MAX (1u << 20) /* a console's frames are of a few KiB */

struct ws {
	int fd;
	wslay_event_context_ptr wslay;
	sd_event_source *io;
	ws_data_fn on_data;
	ws_end_fn on_end;
	void *arg;
	bool broken; /* the socket has ended or failed */
};

static ssize_t recv_some(wslay_event_context_ptr ctx, uint8_t *buf, size_t len, int flags,
			 void *arg)
{
	struct ws *ws = arg;
	ssize_t n;

	(void)flags;
	do
		n = recv(ws->fd, buf, len, 0);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		return n;
	ws->broken = n == 0 || errno != EAGAIN;
	wslay_event_set_error(ctx, ws->broken ? WSLAY_ERR_CALLBACK_FAILURE : WSLAY_ERR_WOULDBLOCK);
	return -1;
}

static ssize_t send_some(wslay_event_context_ptr ctx, const uint8_t *data, size_t len, int flags,
			 void *arg)
{
	struct ws *ws = arg;
	ssize_t n;

	(void)flags;
	do
		n = send(ws->fd, data, len, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		return n;
	ws->broken = errno != EAGAIN;
	wslay_event_set_error(ctx, ws->broken ? WSLAY_ERR_CALLBACK_FAILURE : WSLAY_ERR_WOULDBLOCK);
	return -1;
}

static int make_mask(wslay_event_context_ptr ctx, uint8_t *buf, size_t len, void *arg)
{
	(void)ctx;
	(void)arg;
	return getrandom(buf, len, 0) == (ssize_t)len ? 0 : -1;
}

static void on_message(wslay_event_context_ptr ctx, const struct wslay_event_on_msg_recv_arg *msg,
		       void *arg)
{
	struct ws *ws = arg;

	(void)ctx;
	if (msg->opcode == WSLAY_BINARY_FRAME && msg->msg_length)
		ws->on_data(ws->arg, msg->msg, msg->msg_length);
}

static bool is_over(struct ws *ws)
{
	return ws->broken || wslay_event_get_close_received(ws->wslay) ||
	       (!wslay_event_want_read(ws->wslay) && !wslay_event_want_write(ws->wslay));
}

static void arm(struct ws *ws)
{
	uint32_t events = (wslay_event_want_read(ws->wslay) ? EPOLLIN : 0) |
			  (wslay_event_want_write(ws->wslay) ? EPOLLOUT : 0);

	if (sd_event_source_set_io_events(ws->io, events) < 0)
		ws->broken = true;
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *arg)
{
	struct ws *ws = arg;

	(void)source;
	(void)fd;
	if (revents & (EPOLLIN | EPOLLHUP | EPOLLERR) && wslay_event_recv(ws->wslay) < 0)
		ws->broken = true;
	if (!ws->broken && wslay_event_want_write(ws->wslay) && wslay_event_send(ws->wslay) < 0)
		ws->broken = true;
	arm(ws);
	if (is_over(ws)) {
		bool clean = wslay_event_get_close_received(ws->wslay);

		(void)sd_event_source_set_enabled(ws->io, SD_EVENT_OFF);
		ws->on_end(ws->arg, clean);
	}
	return 0;
}

static int begin_frames(struct ws *ws, sd_event *event)
{
	static const struct wslay_event_callbacks callbacks = {
		.recv_callback = recv_some,
		.send_callback = send_some,
		.genmask_callback = make_mask,
		.on_msg_recv_callback = on_message,
	};
	int r;

	if (fcntl(ws->fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	if (wslay_event_context_client_init(&ws->wslay, &callbacks, ws) != 0)
		return -ENOMEM;
	wslay_event_config_set_max_recv_msg_length(ws->wslay, MESSAGE_MAX);
	r = sd_event_add_io(event, &ws->io, ws->fd, EPOLLIN, on_io, ws);
	return r < 0 ? r : 0;
}

int ws_open(struct client *c, sd_event *event, const char *path, ws_data_fn on_data,
	    ws_end_fn on_end, void *arg, struct ws **ret, struct err *err)
{
	struct ws *ws = xcalloc(1, sizeof *ws);
	int r;

	*ws = (struct ws){.fd = -1, .on_data = on_data, .on_end = on_end, .arg = arg};
	r = ws_handshake(client_run_fd(c), path, &ws->fd, err);
	if (r == 0) {
		r = begin_frames(ws, event);
		if (r < 0)
			(void)err_errno(err, r, "WebSocket");
	}
	if (r < 0) {
		ws_free(ws);
		return r;
	}
	*ret = ws;
	return 0;
}

void ws_free(struct ws *ws)
{
	if (!ws)
		return;
	sd_event_source_disable_unref(ws->io);
	if (ws->wslay)
		wslay_event_context_free(ws->wslay);
	(void)fd_close(ws->fd);
	free(ws);
}

int ws_send(struct ws *ws, const void *data, size_t len)
{
	const struct wslay_event_msg msg = {
		.opcode = WSLAY_BINARY_FRAME, .msg = data, .msg_length = len};

	if (ws->broken || wslay_event_queue_msg(ws->wslay, &msg) != 0)
		return -EPIPE;
	arm(ws);
	return 0;
}

void ws_close(struct ws *ws)
{
	(void)shutdown(ws->fd, SHUT_RDWR); /* the loop sees the end of the socket */
}

size_t ws_queued(const struct ws *ws)
{
	return wslay_event_get_queued_msg_length(ws->wslay);
}
