// SPDX-License-Identifier: Apache-2.0
#include "handler/events.h"

#include "handler/watch.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/sha256.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>

#define NAME_HEX   16  /* letters of the hash in an event's name */
#define OBJECT_MAX 236 /* letters of the object's name before it: 253 with both */

/* Of a deleted one the watchers hear, with a version of its own: without one it stays for now. */
static void remove_one(struct handler *h, json_t *event)
{
	struct err err = {0};
	uint64_t next = store_next_version(h->store, NULL);
	char version[24];

	if (!next)
		return;
	if (store_event_delete(h->store, object_namespace(event), object_name(event), &err) < 0) {
		log_warning("%s", err.msg);
		return;
	}
	(void)snprintf(version, sizeof version, "%" PRIu64, next);
	(void)json_path_set(event, "metadata.resourceVersion", json_string(version));
	watch_publish(h, "DELETED", EVENT_KIND, event);
}

/* What is beyond the bounds goes; uid: the object that may have too many. */
static int trim(struct handler *h, const char *uid, struct err *err)
{
	const struct store_event_bounds keep = {
		.since = uptime_seconds() - EVENT_AGE_SECONDS,
		.of_object = EVENTS_OF_OBJECT,
		.of_all = EVENTS_MAX,
	};
	_cleanup_json_ json_t *list = NULL;
	int r = store_event_excess(h->store, uid, &keep, &list, err);
	json_t *event;
	size_t i;

	json_array_foreach (list, i, event)
		remove_one(h, event);
	return r;
}

/* The same name for the same event, so that the second finds the first. */
static char *name_of(const json_t *object, const struct event *what, const char *message)
{
	_cleanup_free_ char *same =
		xasprintf("%s\n%s\n%s\n%d\n%s\n%s", json_str(object, "kind"), object_uid(object),
			  what->by, what->warning, what->reason, message);
	char hex[SHA256_HEX];

	return xasprintf("%.*s.%.*s", OBJECT_MAX, object_name(object), NAME_HEX,
			 sha256_hex(same, hex));
}

static json_t *make(struct handler *h, const json_t *object, const struct event *what,
		    const char *name, const char *message)
{
	static const char *const about[] = {"namespace", "name", "uid", "resourceVersion"};
	json_t *involved = json_pack("{s:s*, s:s*}", "kind", json_str(object, "kind"), "apiVersion",
				     json_str(object, "apiVersion"));
	char uid[UUID_TEXT], now[TIME_TEXT];

	for (size_t i = 0; i < ARRAY_SIZE(about); i++)
		(void)json_object_set(
			involved, about[i],
			json_object_get(json_object_get(object, "metadata"), about[i]));
	(void)time_now(now);
	return json_pack(
		"{s:s, s:s, s:{s:s, s:s, s:s, s:s}, s:o, s:s, s:s, s:{s:s, s:s}, s:s, s:s, s:i, "
		"s:s, s:n, s:s, s:s}",
		"kind", "Event", "apiVersion", "v1", "metadata", "name", name, "namespace",
		object_namespace(object), "uid", uid_new(uid), "creationTimestamp", now,
		"involvedObject", involved, "reason", what->reason, "message", message, "source",
		"component", what->by, "host", h->node, "firstTimestamp", now, "lastTimestamp", now,
		"count", 1, "type", what->warning ? "Warning" : "Normal", "eventTime",
		"reportingComponent", what->by, "reportingInstance", h->node);
}

static void count_again(json_t *event)
{
	uint64_t count = json_u64(event, "count", 1);
	char now[TIME_TEXT];

	(void)json_object_set_new(event, "lastTimestamp", json_string(time_now(now)));
	if (count < INT32_MAX) /* Kubernetes' type */
		(void)json_object_set_new(event, "count", json_integer((json_int_t)count + 1));
}

static int record(struct handler *h, const json_t *object, const struct event *what,
		  const char *message, struct err *err)
{
	_cleanup_free_ char *name = name_of(object, what, message);
	_cleanup_json_ json_t *event = NULL;
	const struct store_event row = {
		.ns = object_namespace(object),
		.name = name,
		.uid = object_uid(object),
		.last = uptime_seconds(),
	};
	int64_t last = 0;
	int r = trim(h, row.uid, err);
	bool again;

	if (r == 0)
		r = store_event_get(h->store, row.ns, name, &last, &event, err);
	if (r < 0 && r != -ENOENT)
		return r;
	again = r == 0;
	if (again && row.last - last < what->quiet_seconds)
		return 0;
	if (again)
		count_again(event);
	else
		event = make(h, object, what, name, message);
	err_clear(err);
	r = store_event_put(h->store, &row, event, err);
	if (r < 0)
		return r;
	watch_publish(h, again ? "MODIFIED" : "ADDED", EVENT_KIND, event);
	return trim(h, row.uid, err);
}

void event_record(struct handler *h, const json_t *object, const struct event *what,
		  const char *fmt, ...)
{
	char text[2 * EVENT_MESSAGE_MAX], message[EVENT_MESSAGE_MAX + 1];
	struct err err = {0};
	va_list ap;
	int r;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap); /* what is too long is cut */
	va_end(ap);
	str_printable(text, message, sizeof message);
	r = record(h, object, what, message, &err);
	if (r < 0 && !h->events_lost)
		log_warning("events are lost: %s, ignoring", err.msg);
	h->events_lost = r < 0;
}

int events_load(struct handler *h, const char *ns, const char *name, json_t **ret, struct err *err)
{
	int r = trim(h, "", err);

	return r < 0 ? r : store_event_get(h->store, ns, name, NULL, ret, err);
}

int events_list(struct handler *h, const char *ns, json_t **ret_array, struct err *err)
{
	int r = trim(h, "", err);

	return r < 0 ? r : store_event_list(h->store, ns, ret_array, err);
}

void events_drop(struct handler *h, const char *ns)
{
	_cleanup_json_ json_t *list = NULL;
	struct err err = {0};
	json_t *event;
	size_t i;

	if (store_event_list(h->store, ns, &list, &err) < 0)
		log_warning("%s", err.msg);
	json_array_foreach (list, i, event)
		remove_one(h, event);
}
