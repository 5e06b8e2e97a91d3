// SPDX-License-Identifier: Apache-2.0
/*
 * Bytes arrive in curl's callback and are only collected there; lines are handed out after curl has
 * returned, so that a callback may do what it likes with the handler's API.
 */
#include "cmd/watching.h"

#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define LINE_MAX_BYTES (8u << 20) /* one object with its event; the store takes 4 MiB */

struct watching {
	CURLM *multi;
	CURL *curl;
	sd_event *event;
	sd_event_source *timer;
	char *buf; /* what was not handed out yet */
	size_t len;
	watching_event_fn on_event;
	watching_end_fn on_end;
	void *arg;
};

static size_t on_data(char *data, size_t size, size_t n, void *arg)
{
	struct watching *s = arg;

	if (s->len + n > LINE_MAX_BYTES)
		return 0;
	s->buf = xrealloc(s->buf, s->len + n, size);
	memcpy(s->buf + s->len, data, n);
	s->len += n;
	return n;
}

static void hand_out(struct watching *s)
{
	char *at = s->buf, *end;

	while (s->len && (end = memchr(at, '\n', s->len))) {
		_cleanup_json_ json_t *event = NULL;
		struct err err = {0};
		const char *type;

		if (json_parse(at, (size_t)(end - at), LINE_MAX_BYTES, &event, &err) == 0) {
			type = json_str(event, "type");
			if (type)
				s->on_event(s->arg, type, json_object_get(event, "object"));
		}
		s->len -= (size_t)(end + 1 - at);
		at = end + 1;
	}
	if (s->len)
		memmove(s->buf, at, s->len);
}

/* How the transfer ended, if it did: what is left in buf is then the body of a refusal. */
static bool ended(struct watching *s, struct err *ret)
{
	_cleanup_json_ json_t *status = NULL;
	long code = 0;
	int left;
	CURLMsg *m = curl_multi_info_read(s->multi, &left);
	struct err bad = {0};

	if (!m || m->msg != CURLMSG_DONE)
		return false;
	(void)curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &code);
	if (code >= 300) {
		if (s->buf)
			(void)json_parse(s->buf, s->len, LINE_MAX_BYTES, &status, &bad);
		(void)client_status_error(code, status, ret);
	} else if (m->data.result != CURLE_OK) {
		(void)err_set(ret, -ENOTCONN, "virt-handler: %s",
			      curl_easy_strerror(m->data.result));
	}
	return true;
}

/* Let curl act on a socket or its timer, then hand out what came of it. May end in s being gone. */
static void act(struct watching *s, curl_socket_t fd, int mask)
{
	struct err err = {0};
	long code = 0;
	int running;

	(void)curl_multi_socket_action(s->multi, fd, mask, &running);
	(void)curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &code);
	if (code == 200)
		hand_out(s);
	if (ended(s, &err))
		s->on_end(s->arg, &err);
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *arg)
{
	int mask = (revents & EPOLLIN ? CURL_CSELECT_IN : 0) |
		   (revents & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
		   (revents & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);

	(void)source;
	act(arg, fd, mask);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *arg)
{
	(void)source;
	(void)usec;
	act(arg, CURL_SOCKET_TIMEOUT, 0);
	return 0;
}

/* curl: watch this socket for that; `source` is what was assigned to it before. */
static int on_socket(CURL *curl, curl_socket_t fd, int what, void *arg, void *source)
{
	uint32_t events =
		(what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
	struct watching *s = arg;
	sd_event_source *io = source;

	(void)curl;
	if (what == CURL_POLL_REMOVE) {
		sd_event_source_disable_unref(io);
		return 0;
	}
	if (io)
		return sd_event_source_set_io_events(io, events) < 0 ? -1 : 0;
	if (sd_event_add_io(s->event, &io, fd, events, on_io, s) < 0)
		return -1;
	return curl_multi_assign(s->multi, fd, io) == CURLM_OK ? 0 : -1;
}

static int on_set_timer(CURLM *multi, long ms, void *arg)
{
	struct watching *s = arg;

	(void)multi;
	if (ms < 0)
		return sd_event_source_set_enabled(s->timer, SD_EVENT_OFF) < 0 ? -1 : 0;
	if (sd_event_source_set_time_relative(s->timer, (uint64_t)ms * 1000) < 0 ||
	    sd_event_source_set_enabled(s->timer, SD_EVENT_ONESHOT) < 0)
		return -1;
	return 0;
}

static void set_up(struct watching *s, struct client *c, const char *path)
{
	client_aim(c, s->curl, path);
	(void)curl_easy_setopt(s->curl, CURLOPT_WRITEFUNCTION, on_data);
	(void)curl_easy_setopt(s->curl, CURLOPT_WRITEDATA, s);
	(void)curl_multi_setopt(s->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	(void)curl_multi_setopt(s->multi, CURLMOPT_SOCKETDATA, s);
	(void)curl_multi_setopt(s->multi, CURLMOPT_TIMERFUNCTION, on_set_timer);
	(void)curl_multi_setopt(s->multi, CURLMOPT_TIMERDATA, s);
}

int watching_open(struct client *c, sd_event *event, const char *path, watching_event_fn on_event,
		  watching_end_fn on_end, void *arg, struct watching **ret, struct err *err)
{
	struct watching *s = xcalloc(1, sizeof *s);
	int r;

	*s = (struct watching){.event = event, .on_event = on_event, .on_end = on_end, .arg = arg};
	s->multi = curl_multi_init();
	s->curl = curl_easy_init();
	r = sd_event_add_time_relative(event, &s->timer, CLOCK_MONOTONIC, 0, 1000, on_timer, s);
	if (r >= 0)
		r = sd_event_source_set_enabled(s->timer, SD_EVENT_OFF);
	if (r >= 0 && s->multi && s->curl) {
		set_up(s, c, path);
		if (curl_multi_add_handle(s->multi, s->curl) == CURLM_OK) {
			*ret = s;
			return 0;
		}
	}
	watching_free(s);
	return err_set(err, r < 0 ? r : -ENOMEM, "%s: can't be watched", path);
}

void watching_free(struct watching *s)
{
	if (!s)
		return;
	if (s->multi && s->curl)
		(void)curl_multi_remove_handle(s->multi, s->curl);
	curl_easy_cleanup(s->curl);
	if (s->multi)
		(void)curl_multi_cleanup(s->multi);
	sd_event_source_disable_unref(s->timer);
	free(s->buf);
	free(s);
}
