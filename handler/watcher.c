// SPDX-License-Identifier: Apache-2.0
#include "handler/watcher_internal.h"

#include "handler/k8s_status.h"
#include "handler/objstore.h"

#include "lib/json.h"

#include <errno.h>
#include <string.h>

static void put(struct watcher *w, const char *data, size_t len)
{
	if (w->size - w->end < len && w->begin > 0) {
		memmove(w->buf, w->buf + w->begin, w->end - w->begin);
		w->end -= w->begin;
		w->begin = 0;
	}
	if (w->size - w->end < len) {
		w->size = (w->end + len) * 2;
		w->buf = xrealloc(w->buf, w->size, 1);
	}
	memcpy(w->buf + w->end, data, len);
	w->end += len;
}

static void put_line(struct watcher *w, const char *type, const char *object)
{
	_cleanup_free_ char *line = xasprintf("{\"type\":\"%s\",\"object\":%s}\n", type, object);

	put(w, line, strlen(line));
}

static void put_error(struct watcher *w, json_t *status_consume)
{
	_cleanup_json_ json_t *status = status_consume;
	_cleanup_free_ char *text = json_dumps(status, JSON_COMPACT);

	put_line(w, "ERROR", text);
	w->ended = true;
}

/* Forget what was not begun to be read; a line of which a part is out has to be completed. */
static void drop_unread(struct watcher *w)
{
	const char *line_end;

	if (!w->mid_line) {
		w->end = w->begin;
		return;
	}
	line_end = memchr(w->buf + w->begin, '\n', w->end - w->begin);
	if (line_end)
		w->end = (size_t)(line_end + 1 - w->buf);
}

static void too_slow(struct watcher *w)
{
	json_t *status = NULL;

	drop_unread(w);
	(void)k8s_failure(&status, 410, "Expired",
			  "this watch was more than %u bytes behind; list again", WATCH_BEHIND_MAX);
	put_error(w, status);
}

/* What happened, seen through the stream's selector; NULL: nothing of its concern. */
static const char *type_for(const struct watcher *w, const struct watch_event *e)
{
	bool was = e->was && selector_matches(w->selector, e->was);
	bool is = e->is && selector_matches(w->selector, e->is);

	if (is)
		return was ? "MODIFIED" : "ADDED";
	return was ? "DELETED" : NULL;
}

void watcher_event(struct watcher *w, const struct watch_event *e)
{
	const char *type;

	if (w->ended || !str_eq(w->kind, e->kind) || (w->ns && !str_eq(w->ns, e->ns)))
		return;
	type = type_for(w, e);
	if (!type)
		return;
	if (w->end - w->begin + strlen(e->text) > w->behind_max)
		too_slow(w);
	else
		put_line(w, type, e->text);
	w->wake(w->arg);
}

/* The state itself; it may be larger than what a stream may fall behind. */
static int put_state(struct handler *h, struct watcher *w, const struct kind *k, struct err *err)
{
	_cleanup_json_ json_t *list = NULL;
	int r = object_list(h, k, w->ns, &list, err);
	json_t *object;
	size_t i;

	json_array_foreach (list, i, object) {
		_cleanup_free_ char *text = NULL;

		if (!selector_matches(w->selector, object))
			continue;
		text = json_dumps(object, JSON_COMPACT);
		put_line(w, "ADDED", text);
	}
	return r;
}

static void replay(struct watcher *w, uint64_t since)
{
	struct watch *hub = w->hub;
	json_t *status = NULL;

	if (since < hub->floor) {
		(void)k8s_expired(&status, since, hub->floor);
		put_error(w, status);
		return;
	}
	for (size_t i = 0; i < hub->n; i++) {
		const struct watch_event *e = &hub->history[(hub->begin + i) % WATCH_HISTORY];

		if (e->version > since)
			watcher_event(w, e);
	}
}

/* While it is being made nobody reads. */
static void no_wake(void *arg)
{
	(void)arg;
}

int watcher_new(struct handler *h, const struct kind *k, const char *ns,
		struct selector *selector_consume, uint64_t since, void (*wake)(void *arg),
		void *arg, struct watcher **ret, struct err *err)
{
	struct watcher *w = xcalloc(1, sizeof *w);
	int r = 0;

	w->hub = h->watches;
	w->behind_max = WATCH_BEHIND_MAX;
	(void)object_key(k, w->kind);
	w->ns = xstrdup(ns);
	w->selector = selector_consume;
	w->wake = no_wake;
	if (since)
		replay(w, since);
	else
		r = put_state(h, w, k, err);
	if (r < 0) {
		watcher_free(w);
		return r;
	}
	w->next = w->hub->streams; /* from now on: what the list itself let go was never there */
	w->hub->streams = w;
	w->behind_max += w->end;
	w->wake = wake;
	w->arg = arg;
	*ret = w;
	return 0;
}

void watcher_free(struct watcher *w)
{
	if (!w)
		return;
	for (struct watcher **p = &w->hub->streams; *p; p = &(*p)->next)
		if (*p == w) {
			*p = w->next;
			break;
		}
	selector_free(w->selector);
	free(w->ns);
	free(w->buf);
	free(w);
}

ssize_t watcher_read(struct watcher *w, char *buf, size_t size)
{
	size_t n = w->end - w->begin;

	if (n == 0)
		return w->ended ? -ENODATA : 0;
	n = n < size ? n : size;
	memcpy(buf, w->buf + w->begin, n);
	w->begin += n;
	w->mid_line = buf[n - 1] != '\n';
	if (w->begin == w->end)
		w->begin = w->end = 0;
	return (ssize_t)n;
}

void watcher_end(struct watcher *w)
{
	w->ended = true;
}

bool watcher_ended(const struct watcher *w)
{
	return w->ended;
}
