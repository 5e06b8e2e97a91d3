// SPDX-License-Identifier: Apache-2.0
#include "launcher/qmp.h"

#include "launcher/lines.h"
#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHUNK	 (64 * 1024)
#define OUT_MAX	 (256 * 1024) /* commands that QEMU has not read yet */
#define ACCURACY 50000	      /* of time limits, microseconds: lets wake-ups fall together */

enum state { WAIT_GREETING, WAIT_CAPABILITIES, READY, CLOSED };

struct call {
	struct call *next;
	uint64_t id, deadline;
	qmp_reply_fn fn;
	void *arg;
};

struct qmp {
	sd_event *event; /* borrowed: outlives this */
	int fd;
	sd_event_source *io, *timer;
	const struct qmp_handlers *handlers;
	void *arg;
	enum state state;
	uint64_t greeting_deadline;
	uint64_t last_id;
	struct call *calls;
	struct lines lines;
	char *out;
	size_t out_len;
};

static uint64_t now_us(const struct qmp *q)
{
	uint64_t t = 0;

	(void)sd_event_now(q->event, CLOCK_MONOTONIC, &t); /* falls back to the clock itself */
	return t;
}

/* The earliest of all time limits becomes the timer's. */
static void arm(struct qmp *q)
{
	uint64_t t = UINT64_MAX;

	if (q->state < READY)
		t = q->greeting_deadline;
	for (struct call *c = q->calls; c; c = c->next)
		if (c->deadline < t)
			t = c->deadline;
	(void)sd_event_source_set_enabled(q->timer, SD_EVENT_OFF);
	if (t == UINT64_MAX || q->state == CLOSED)
		return;
	(void)sd_event_source_set_time(q->timer, t);
	(void)sd_event_source_set_enabled(q->timer, SD_EVENT_ONESHOT);
}

static void finish_call(struct call *c, int r, const json_t *result, const char *error)
{
	qmp_reply_fn fn = c->fn;
	void *arg = c->arg;

	free(c);
	if (fn)
		fn(arg, r, result, error);
}

static void close_with(struct qmp *q, const struct err *why)
{
	struct call *c;

	if (q->state == CLOSED)
		return;
	q->state = CLOSED;
	q->io = sd_event_source_disable_unref(q->io);
	q->fd = fd_close(q->fd);
	arm(q);
	while ((c = q->calls)) {
		q->calls = c->next;
		finish_call(c, -ECONNRESET, NULL, why->msg);
	}
	q->handlers->closed(q->arg, why);
}

/* ---- sending ---- */

static void flush(struct qmp *q)
{
	while (q->out_len > 0) {
		ssize_t n = send(q->fd, q->out, q->out_len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break; /* a full socket is retried; a broken one is noticed by the reader */
		q->out_len -= (size_t)n;
		memmove(q->out, q->out + n, q->out_len);
	}
	(void)sd_event_source_set_io_events(q->io, EPOLLIN | (q->out_len ? EPOLLOUT : 0u));
}

static int queue(struct qmp *q, const char *command, json_t *arguments, uint64_t id)
{
	_cleanup_json_ json_t *msg =
		json_pack("{s:s, s:I}", "execute", command, "id", (json_int_t)id);
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (arguments)
		(void)json_object_set_new(msg, "arguments", arguments);
	text = json_dumps(msg, JSON_COMPACT);
	if (!text)
		return -EINVAL;
	len = strlen(text);
	if (q->out_len + len + 1 > OUT_MAX)
		return -ENOBUFS;
	q->out = xrealloc(q->out, q->out_len + len + 1, 1);
	memcpy(q->out + q->out_len, text, len);
	q->out[q->out_len + len] = '\n';
	q->out_len += len + 1;
	flush(q);
	return 0;
}

int qmp_call(struct qmp *q, const char *command, json_t *arguments, uint64_t timeout_us,
	     qmp_reply_fn fn, void *arg)
{
	struct call *c, **tail;
	int r;

	if (q->state != READY) {
		json_decref(arguments);
		return -ENOTCONN;
	}
	r = queue(q, command, arguments, ++q->last_id);
	if (r < 0)
		return r;
	c = xcalloc(1, sizeof *c);
	*c = (struct call){
		.id = q->last_id, .deadline = now_us(q) + timeout_us, .fn = fn, .arg = arg};
	for (tail = &q->calls; *tail; tail = &(*tail)->next)
		;
	*tail = c;
	arm(q);
	return 0;
}

/* ---- receiving ---- */

static void on_answer(struct qmp *q, const json_t *msg)
{
	uint64_t id = json_u64(msg, "id", 0);
	const json_t *error = json_object_get(msg, "error");
	const char *text = json_str(error, "desc");

	for (struct call **p = &q->calls; *p; p = &(*p)->next) {
		struct call *c = *p;

		if (c->id != id)
			continue;
		*p = c->next;
		arm(q);
		if (error)
			finish_call(c, -EREMOTEIO, NULL, text ? text : "error without a text");
		else
			finish_call(c, 0, json_object_get(msg, "return"), NULL);
		return;
	}
	/* an answer that nobody waits for any more: its time was over */
}

static int on_greeting(struct qmp *q, const json_t *msg, struct err *why)
{
	if (!json_is_object(json_object_get(msg, "QMP")))
		return err_set(why, -EPROTO, "QMP: QEMU did not begin with a greeting");
	q->state = WAIT_CAPABILITIES;
	return queue(q, "qmp_capabilities", NULL, 0) < 0
		       ? err_set(why, -EPROTO, "QMP: QEMU does not read")
		       : 0;
}

static int on_capabilities(struct qmp *q, const json_t *msg, struct err *why)
{
	if (!json_object_get(msg, "return"))
		return err_set(why, -EPROTO, "QMP: QEMU refused qmp_capabilities: %.200s",
			       json_str(msg, "error.desc") ? json_str(msg, "error.desc") : "");
	q->state = READY;
	arm(q);
	q->handlers->ready(q->arg);
	return 0;
}

static int on_message(struct qmp *q, const json_t *msg, struct err *why)
{
	const char *event = json_str(msg, "event");

	if (!json_is_object(msg))
		return err_set(why, -EPROTO, "QMP: not an object");
	if (q->state == WAIT_GREETING)
		return on_greeting(q, msg, why);
	if (event) {
		const json_t *data = json_object_get(msg, "data");

		q->handlers->event(q->arg, event, json_is_object(data) ? data : NULL);
		return 0;
	}
	if (!json_object_get(msg, "return") && !json_object_get(msg, "error"))
		return err_set(why, -EPROTO, "QMP: neither answer nor event");
	if (q->state == WAIT_CAPABILITIES)
		return on_capabilities(q, msg, why);
	on_answer(q, msg);
	return 0;
}

struct feed {
	struct qmp *q;
	struct err why;
};

static int on_line(void *arg, char *line, size_t len)
{
	_cleanup_json_ json_t *msg = NULL;
	struct feed *f = arg;
	int r = json_parse(line, len, QMP_LINE_MAX, &msg, &f->why);

	if (r < 0) {
		err_prefix(&f->why, "QMP");
		return r;
	}
	return on_message(f->q, msg, &f->why);
}

/* One read; false when there is nothing more now, or the connection is closed. */
static bool receive(struct qmp *q)
{
	_cleanup_free_ char *buf = xcalloc(1, CHUNK);
	struct feed f = {.q = q};
	ssize_t n = recv(q->fd, buf, CHUNK, MSG_DONTWAIT);
	int r;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		(void)err_set(&f.why, -ECONNRESET, "QMP: QEMU closed the connection");
		close_with(q, &f.why);
		return false;
	}
	r = lines_feed(&q->lines, buf, (size_t)n, on_line, &f);
	if (r == -EMSGSIZE)
		(void)err_set(&f.why, r, "QMP: a line of more than %u bytes", QMP_LINE_MAX);
	if (r < 0)
		close_with(q, &f.why);
	return r == 0;
}

static int on_io(sd_event_source *s, int fd, uint32_t revents, void *arg)
{
	struct qmp *q = arg;

	(void)s;
	(void)fd;
	if (revents & EPOLLOUT)
		flush(q);
	if (revents & (EPOLLIN | EPOLLHUP | EPOLLERR))
		(void)receive(q);
	return 0;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *arg)
{
	struct qmp *q = arg;
	uint64_t now = now_us(q);
	struct call **p = &q->calls;

	(void)s;
	(void)usec;
	if (q->state < READY && q->greeting_deadline <= now) {
		struct err why = {0};

		(void)err_set(&why, -ETIMEDOUT, "QMP: no greeting from QEMU in time");
		close_with(q, &why);
		return 0;
	}
	while (*p) {
		struct call *c = *p;

		if (c->deadline > now) {
			p = &c->next;
			continue;
		}
		*p = c->next;
		finish_call(c, -ETIMEDOUT, NULL, "QEMU does not answer");
		p = &q->calls; /* the callback may have changed the list */
	}
	arm(q);
	return 0;
}

void qmp_finish(struct qmp *q)
{
	struct err why = {0};

	while (q->state != CLOSED && receive(q))
		;
	(void)err_set(&why, -ECONNRESET, "QMP: QEMU is gone");
	close_with(q, &why);
}

int qmp_new(sd_event *event, int fd_consume, uint64_t greeting_timeout_us,
	    const struct qmp_handlers *handlers, void *arg, struct qmp **ret, struct err *err)
{
	struct qmp *q = xcalloc(1, sizeof *q);
	int r;

	q->event = event;
	q->fd = fd_consume;
	q->handlers = handlers;
	q->arg = arg;
	q->lines.max = QMP_LINE_MAX;
	q->greeting_deadline = now_us(q) + greeting_timeout_us;
	r = sd_event_add_io(event, &q->io, q->fd, EPOLLIN, on_io, q);
	if (r >= 0)
		r = sd_event_add_time(event, &q->timer, CLOCK_MONOTONIC, q->greeting_deadline,
				      ACCURACY, on_timer, q);
	if (r < 0) {
		qmp_free(q);
		return err_errno(err, r, "QMP: event source");
	}
	(void)sd_event_source_set_description(q->io, "qmp");
	(void)sd_event_source_set_description(q->timer, "qmp-timeout");
	*ret = q;
	return 0;
}

void qmp_free(struct qmp *q)
{
	struct call *c;

	if (!q)
		return;
	while ((c = q->calls)) {
		q->calls = c->next;
		free(c);
	}
	(void)sd_event_source_disable_unref(q->io);
	(void)sd_event_source_disable_unref(q->timer);
	(void)fd_close(q->fd);
	lines_done(&q->lines);
	free(q->out);
	free(q);
}
