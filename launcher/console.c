// SPDX-License-Identifier: Apache-2.0
#include "launcher/console.h"

#include "launcher/ring.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK	  4096
#define INPUT_MAX 4096 /* typed bytes that wait for the guest */

struct client {
	int fd; /* -1: none */
	sd_event_source *source;
	uint64_t pos;  /* next byte of the ring that it gets */
	bool eof;      /* it will type no more, but still reads */
	uint64_t lost; /* bytes that the notice is about */
	char notice[80];
	size_t notice_len, notice_sent;
};

struct console {
	sd_event *event; /* borrowed: outlives the console */
	int fd;		 /* QEMU's side */
	sd_event_source *source;
	struct logfile log;
	struct ring ring;
	struct client client;
	char input[INPUT_MAX];
	size_t input_len;
};

static void detach(struct console *c)
{
	c->client.source = sd_event_source_disable_unref(c->client.source);
	c->client.fd = fd_close(c->client.fd);
}

static void close_qemu(struct console *c)
{
	c->source = sd_event_source_disable_unref(c->source);
	c->fd = fd_close(c->fd);
	c->input_len = 0;
}

static bool client_behind(const struct console *c)
{
	return c->client.notice_sent < c->client.notice_len || c->client.pos < c->ring.end;
}

/* Which of the four directions can make progress is decided here and nowhere else. */
static void update_interest(struct console *c)
{
	if (c->source)
		(void)sd_event_source_set_io_events(c->source,
						    EPOLLIN | (c->input_len ? EPOLLOUT : 0u));
	if (c->client.source) {
		bool room = !c->client.eof && c->input_len < INPUT_MAX;

		(void)sd_event_source_set_io_events(c->client.source,
						    (room ? EPOLLIN : 0u) |
							    (client_behind(c) ? EPOLLOUT : 0u));
	}
}

/*
 * Skip what the ring no longer has, and put a word about it in front of what comes next. While the
 * client has not been given that word yet, further loss is added to it.
 */
static void note_loss(struct console *c)
{
	struct client *cl = &c->client;
	uint64_t start = ring_start(&c->ring);

	if (cl->pos >= start)
		return;
	if (cl->notice_sent == cl->notice_len)
		cl->lost = 0;
	else if (cl->notice_sent > 0)
		return; /* half told: that has to be finished first */
	cl->lost += start - cl->pos;
	cl->pos = start;
	cl->notice_len = (size_t)snprintf(
		cl->notice, sizeof cl->notice,
		"\r\n[virtpod: console too slow, %" PRIu64 " bytes lost]\r\n", cl->lost);
	cl->notice_sent = 0;
}

static ssize_t send_some(int fd, const char *data, size_t len)
{
	ssize_t n = send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);

	return n < 0 ? -errno : n;
}

/* Write to the client until it is up to date or its socket is full. */
static void serve_client(struct console *c)
{
	struct client *cl = &c->client;

	while (cl->fd >= 0 && client_behind(c)) {
		const char *p;
		size_t len;
		ssize_t n;
		bool notice;

		note_loss(c);
		notice = cl->notice_sent < cl->notice_len;
		if (notice) {
			p = cl->notice + cl->notice_sent;
			len = cl->notice_len - cl->notice_sent;
		} else {
			len = ring_peek(&c->ring, cl->pos, &p);
		}
		n = send_some(cl->fd, p, len);
		if (n == -EAGAIN || n == -EINTR)
			return;
		if (n < 0) {
			detach(c);
			return;
		}
		if (notice)
			cl->notice_sent += (size_t)n;
		else
			cl->pos += (uint64_t)n;
	}
}

static void read_client(struct console *c)
{
	ssize_t n =
		recv(c->client.fd, c->input + c->input_len, INPUT_MAX - c->input_len, MSG_DONTWAIT);

	if (n > 0)
		c->input_len += (size_t)n;
	else if (n == 0)
		c->client.eof = true;
	else if (errno != EAGAIN && errno != EINTR)
		detach(c);
}

static void write_qemu(struct console *c)
{
	ssize_t n = send_some(c->fd, c->input, c->input_len);

	if (n == -EAGAIN || n == -EINTR)
		return;
	if (n < 0) {
		c->input_len = 0; /* QEMU is going; its end is noticed elsewhere */
		return;
	}
	c->input_len -= (size_t)n;
	memmove(c->input, c->input + n, c->input_len);
}

/* One chunk from QEMU; false when there is nothing (or nobody) left. */
static bool read_qemu(struct console *c)
{
	char buf[CHUNK];
	ssize_t n = recv(c->fd, buf, sizeof buf, MSG_DONTWAIT);
	int r;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		close_qemu(c);
		return false;
	}
	ring_write(&c->ring, buf, (size_t)n);
	r = logfile_write(&c->log, buf, (size_t)n);
	if (r < 0)
		log_warning("console log: %s, lines are lost, ignoring", strerror(-r));
	return true;
}

static int on_qemu(sd_event_source *s, int fd, uint32_t revents, void *arg)
{
	struct console *c = arg;

	(void)s;
	(void)fd;
	if ((revents & EPOLLOUT) && c->input_len)
		write_qemu(c);
	if (revents & (EPOLLIN | EPOLLHUP | EPOLLERR))
		(void)read_qemu(c);
	serve_client(c);
	update_interest(c);
	return 0;
}

static int on_client(sd_event_source *s, int fd, uint32_t revents, void *arg)
{
	struct console *c = arg;

	(void)s;
	(void)fd;
	if (revents & EPOLLIN)
		read_client(c);
	if (c->input_len && c->fd >= 0)
		write_qemu(c);
	if (c->client.fd >= 0 && (revents & (EPOLLHUP | EPOLLERR)))
		detach(c);
	serve_client(c);
	update_interest(c);
	return 0;
}

int console_attach(struct console *c, int fd_consume, struct err *err)
{
	_cleanup_fd_ int fd = fd_consume;
	int type, r;
	socklen_t len = sizeof type;

	if (c->client.fd >= 0)
		return err_set(err, -EBUSY, "the console is in use, one client at a time");
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0 || type != SOCK_STREAM)
		return err_set(err, -EINVAL, "console: want a stream socket");
	r = sd_event_add_io(c->event, &c->client.source, fd, EPOLLIN, on_client, c);
	if (r < 0)
		return err_errno(err, r, "console: event source");
	(void)sd_event_source_set_description(c->client.source, "console-client");
	c->client.fd = TAKE_FD(fd);
	c->client.pos = ring_start(&c->ring);
	c->client.eof = false;
	c->client.notice_len = c->client.notice_sent = 0;
	serve_client(c);
	update_interest(c);
	return 0;
}

void console_finish(struct console *c)
{
	while (c->fd >= 0 && read_qemu(c))
		serve_client(c);
	serve_client(c);
	update_interest(c);
}

int console_new(sd_event *event, int fd_consume, struct logfile *log, struct console **ret,
		struct err *err)
{
	struct console *c = xcalloc(1, sizeof *c);
	int r;

	c->event = event;
	c->fd = fd_consume;
	c->client.fd = -1;
	c->log = *log;
	log->fd = -1;
	r = sd_event_add_io(event, &c->source, c->fd, EPOLLIN, on_qemu, c);
	if (r < 0) {
		console_free(c);
		return err_errno(err, r, "console: event source");
	}
	(void)sd_event_source_set_description(c->source, "console-qemu");
	*ret = c;
	return 0;
}

void console_free(struct console *c)
{
	if (!c)
		return;
	detach(c);
	close_qemu(c);
	logfile_done(&c->log);
	free(c);
}
