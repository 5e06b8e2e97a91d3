// SPDX-License-Identifier: Apache-2.0
#include "cmd/follow.h"

#include "cmd/url.h"
#include "cmd/watching.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <time.h>

/* Streams in a row that end before a single event: more is not a restart but a broken server. */
#define BARREN_MAX 5

struct follow {
	struct client *client;
	sd_event *event;
	const struct kind *kind;
	char *ns, *name; /* NULL: all */
	follow_fn fn;
	void *arg;
	struct watching *stream;
	time_t began; /* the stream that is open, by uptime_seconds() */
	unsigned barren;
};

static int begin(struct follow *f, struct err *err);

static void on_event(void *arg, const char *type, json_t *object)
{
	struct follow *f = arg;

	if (str_eq(type, "ERROR") || str_eq(type, "BOOKMARK"))
		return; /* the stream ends after an ERROR: then it is listed again */
	f->barren = 0;
	f->fn(f->arg, str_eq(type, "DELETED") ? FOLLOW_DELETED : FOLLOW_CHANGED, object, NULL);
}

static void on_end(void *arg, const struct err *ended)
{
	struct follow *f = arg;
	struct err err = {0};
	int r;

	watching_free(f->stream);
	f->stream = NULL;
	log_debug("watch of %s ended%s%s", f->kind->plural, ended->code ? ": " : "", ended->msg);
	if (uptime_seconds() - f->began > 1)
		f->barren = 0; /* it did live: a handler that was restarted now and then */
	if (++f->barren > BARREN_MAX)
		r = err_set(&err, -EIO, "the handler ends every watch of %s at once%s%s",
			    f->kind->plural, ended->code ? ": " : "", ended->msg);
	else
		r = client_reach(f->client, &err);
	if (r == 0)
		r = begin(f, &err);
	if (r < 0)
		f->fn(f->arg, FOLLOW_FAILED, NULL, &err);
}

static char *query(const struct follow *f, const char *version)
{
	_cleanup_free_ char *name = f->name ? url_escape(f->name) : NULL;
	_cleanup_free_ char *selector =
		name ? xasprintf("fieldSelector=metadata.name%%3D%s", name) : xstrdup("");

	if (!version)
		return TAKE_PTR(selector);
	return xasprintf("%s%swatch=true&resourceVersion=%s", selector, name ? "&" : "", version);
}

static int open_stream(struct follow *f, const char *version, struct err *err)
{
	_cleanup_free_ char *q = query(f, version);
	_cleanup_free_ char *path = url_object(f->kind, f->ns, NULL, q);

	return watching_open(f->client, f->event, path, on_event, on_end, f, &f->stream, err);
}

static int begin(struct follow *f, struct err *err)
{
	_cleanup_free_ char *q = query(f, NULL);
	_cleanup_free_ char *path = url_object(f->kind, f->ns, NULL, *q ? q : NULL);
	_cleanup_json_ json_t *list = NULL;
	json_t *object;
	size_t i;
	int r = client_call(f->client, "GET", path, NULL, &list, err);

	if (r < 0)
		return r;
	f->began = uptime_seconds();
	r = open_stream(f, json_str(list, "metadata.resourceVersion"), err);
	if (r < 0)
		return r;
	json_array_foreach (json_object_get(list, "items"), i, object)
		f->fn(f->arg, FOLLOW_LISTED, object, NULL);
	f->fn(f->arg, FOLLOW_SYNCED, NULL, NULL);
	return 0;
}

int follow_open(struct client *c, sd_event *event, const struct kind *k, const char *ns,
		const char *name, follow_fn fn, void *arg, struct follow **ret, struct err *err)
{
	_cleanup_follow_ struct follow *f = xcalloc(1, sizeof *f);
	int r;

	*f = (struct follow){.client = c, .event = event, .kind = k, .fn = fn, .arg = arg};
	f->ns = k->namespaced ? xstrdup(ns) : NULL;
	f->name = xstrdup(name);
	r = begin(f, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(f);
	return 0;
}

void follow_free(struct follow *f)
{
	if (!f)
		return;
	watching_free(f->stream);
	free(f->ns);
	free(f->name);
	free(f);
}
