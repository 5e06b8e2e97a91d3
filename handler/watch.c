// SPDX-License-Identifier: Apache-2.0
#include "handler/watch.h"

#include "handler/objstore.h"
#include "handler/vmi.h"
#include "handler/watcher_internal.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void event_done(struct watch_event *e)
{
	free(e->kind);
	free(e->ns);
	free(e->name);
	free(e->text);
	json_decref(e->was);
	json_decref(e->is);
	*e = (struct watch_event){0};
}

static char *part_key(const char *kind, const json_t *object)
{
	return xasprintf("%s\n%s\n%s", kind, object_namespace(object), object_name(object));
}

/* What is in the store when the hub opens: without it a first MODIFIED would look like an ADDED. */
static int load_parts(struct handler *h, struct watch *hub, struct err *err)
{
	char kind[OBJECT_KEY_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && i < KINDS_MAX; i++) {
		_cleanup_json_ json_t *list = NULL;
		json_t *object;
		size_t j;

		r = object_list(h, &kinds[i], NULL, &list, err);
		json_array_foreach (list, j, object) {
			_cleanup_free_ char *key = part_key(object_key(&kinds[i], kind), object);

			(void)json_object_set_new(hub->parts, key, selector_part(object));
		}
	}
	return r;
}

int watch_open(struct handler *h, struct err *err)
{
	struct watch *hub = xcalloc(1, sizeof *hub);
	int r;

	hub->parts = json_object();
	hub->floor = store_version(h->store);
	r = load_parts(h, hub, err);
	h->watches = hub;
	if (r < 0)
		watch_close(h);
	return r;
}

void watch_close(struct handler *h)
{
	struct watch *hub = h->watches;

	if (!hub)
		return;
	for (size_t i = 0; i < hub->n; i++)
		event_done(&hub->history[(hub->begin + i) % WATCH_HISTORY]);
	json_decref(hub->parts);
	free(hub);
	h->watches = NULL;
}

/* A free place at the ring's end; the oldest events leave when it is full, by number or by size. */
static struct watch_event *ring_next(struct watch *hub)
{
	while (hub->n == WATCH_HISTORY || (hub->n && hub->bytes > WATCH_HISTORY_BYTES)) {
		struct watch_event *oldest = &hub->history[hub->begin];

		hub->floor = oldest->version;
		hub->bytes -= strlen(oldest->text);
		event_done(oldest);
		hub->begin = (hub->begin + 1) % WATCH_HISTORY;
		hub->n--;
	}
	return &hub->history[(hub->begin + hub->n++) % WATCH_HISTORY];
}

static uint64_t version_of(const json_t *object)
{
	const char *text = json_str(object, "metadata.resourceVersion");

	return text ? strtoull(text, NULL, 10) : 0;
}

void watch_publish(struct handler *h, const char *type, const char *kind, const json_t *object)
{
	struct watch *hub = h->watches;
	_cleanup_free_ char *key = NULL;
	struct watcher *next;
	struct watch_event *e;

	if (str_eq(kind, VMI_KIND)) /* a VirtualMachine's status and next step follow from it */
		handler_kick(h);
	if (!hub) /* nobody can be listening yet; whoever comes later gets the state itself */
		return;
	key = part_key(kind, object);
	e = ring_next(hub);
	*e = (struct watch_event){
		.version = version_of(object),
		.kind = xstrdup(kind),
		.ns = xstrdup(object_namespace(object)),
		.name = xstrdup(object_name(object)),
		.text = json_dumps(object, JSON_COMPACT),
		.was = json_incref(json_object_get(hub->parts, key)),
		.is = str_eq(type, "DELETED") ? NULL : selector_part(object),
	};
	hub->bytes += strlen(e->text);
	if (e->is)
		(void)json_object_set(hub->parts, key, e->is);
	else
		(void)json_object_del(hub->parts, key);
	log_debug("%s %s %s/%s", type, kind, e->ns, e->name);
	for (struct watcher *w = hub->streams; w; w = next) {
		next = w->next;
		watcher_event(w, e);
	}
}
