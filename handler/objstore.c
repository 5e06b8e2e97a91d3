// SPDX-License-Identifier: Apache-2.0
#include "handler/objstore.h"

#include "handler/events.h"
#include "handler/loop.h"
#include "handler/namespaces.h"
#include "handler/node.h"
#include "handler/status.h"
#include "handler/vmi.h"
#include "handler/watch.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

char *object_key(const struct kind *k, char buf[static OBJECT_KEY_MAX])
{
	(void)snprintf(buf, OBJECT_KEY_MAX, "%s%s%s", k->plural, k->group[0] ? "." : "", k->group);
	return buf;
}

static bool is_node(const struct kind *k)
{
	return str_eq(k->kind, "Node");
}

static bool is_event(const struct kind *k)
{
	return str_eq(k->kind, "Event");
}

/* Namespace as the store has it: "" for cluster-wide kinds. */
static const char *ns_of(const struct kind *k, const json_t *object)
{
	return k->namespaced ? object_namespace(object) : "";
}

int object_load(struct handler *h, const struct kind *k, const char *ns, const char *name,
		json_t **ret, struct err *err)
{
	_cleanup_json_ json_t *body = NULL;
	char key[OBJECT_KEY_MAX];
	int r;

	if (is_node(k)) {
		if (!str_eq(name, h->node))
			return err_set(err, -ENOENT, "nodes \"%s\" not found", name);
		*ret = node_object(h);
		return 0;
	}
	if (is_event(k))
		return events_load(h, ns, name, ret, err);
	r = store_get(h->store, object_key(k, key), ns, name, &body, err);
	if (r == 0)
		*ret = vmi_join(h, body);
	return r;
}

int object_list(struct handler *h, const struct kind *k, const char *ns, json_t **ret_array,
		struct err *err)
{
	_cleanup_json_ json_t *bodies = NULL;
	char key[OBJECT_KEY_MAX];
	json_t *list, *body;
	size_t i;
	int r;

	if (is_node(k)) {
		*ret_array = json_pack("[o]", node_object(h));
		return 0;
	}
	if (is_event(k))
		return events_list(h, ns, ret_array, err);
	r = store_list(h->store, object_key(k, key), ns, &bodies, err);
	if (r < 0)
		return r;
	list = json_array();
	json_array_foreach (bodies, i, body)
		(void)json_array_append_new(list, vmi_join(h, body));
	*ret_array = list;
	return 0;
}

void object_prepare(const struct kind *k, json_t *object)
{
	static const char *const servers[] = {
		"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds",
		"managedFields",   "selfLink",		"generateName",
	};
	json_t *meta = json_object_get(object, "metadata");
	char uid[UUID_TEXT], now[TIME_TEXT], version[64];

	for (size_t i = 0; i < ARRAY_SIZE(servers); i++)
		(void)json_object_del(meta, servers[i]); /* mostly absent */
	(void)json_object_set_new(meta, "uid", json_string(uid_new(uid)));
	(void)json_object_set_new(meta, "creationTimestamp", json_string(time_now(now)));
	(void)json_object_set_new(meta, "generation", json_integer(1));
	kind_api_version(k, version, sizeof version);
	(void)json_object_set_new(object, "apiVersion", json_string(version));
}

/* The record that vmi_join reads; its version is the object's own, for both are written as one. */
static int put_status(struct handler *h, const json_t *object, const char *version,
		      const json_t *status, struct err *err)
{
	_cleanup_json_ json_t *record = json_object();

	(void)json_object_set_new(record, "resourceVersion", json_string(version));
	(void)json_object_set_new(record, "status", json_deep_copy(status));
	return store_status_put(h->store, object_uid(object), record, err);
}

/* Store the body without its status. */
static int put_body(struct handler *h, const struct kind *k, json_t *object, struct err *err)
{
	_cleanup_json_ json_t *body = json_copy(object);
	char key[OBJECT_KEY_MAX];

	(void)json_object_del(body, "status"); /* metadata is shared: the new version is in both */
	return store_put(h->store, object_key(k, key), ns_of(k, object), object_name(object), body,
			 err);
}

int object_insert(struct handler *h, const struct kind *k, json_t *object, struct err *err)
{
	bool vmi = str_eq(k->kind, "VirtualMachineInstance");
	char key[OBJECT_KEY_MAX];
	struct err undo = {0};
	int r = k->namespaced ? namespace_ensure(h, object_namespace(object), err) : 0;

	if (r < 0)
		return r;
	if (vmi)
		(void)json_object_set_new(object, "status", status_new(object));
	else
		(void)json_object_del(object, "status"); /* users can't set it */
	r = put_body(h, k, object, err);
	if (r < 0)
		return r;
	if (vmi)
		r = put_status(h, object, json_str(object, "metadata.resourceVersion"),
			       json_object_get(object, "status"), err);
	if (r == 0)
		watch_publish(h, "ADDED", object_key(k, key), object);
	else if (store_delete(h->store, object_key(k, key), ns_of(k, object), object_name(object),
			      &undo) < 0) /* who is refused must find nothing */
		log_error("%s", undo.msg);
	return r;
}

int object_update(struct handler *h, const struct kind *k, json_t *object, struct err *err)
{
	char key[OBJECT_KEY_MAX];
	int r = put_body(h, k, object, err);

	if (r == 0)
		watch_publish(h, "MODIFIED", object_key(k, key), object);
	return r;
}

int object_remove(struct handler *h, const struct kind *k, json_t *object, struct err *err)
{
	char key[OBJECT_KEY_MAX], version[24];
	int r = store_delete(h->store, object_key(k, key), ns_of(k, object), object_name(object),
			     err);

	if (r == 0)
		r = store_status_put(h->store, object_uid(object), NULL, err);
	if (r < 0)
		return r;
	(void)snprintf(version, sizeof version, "%" PRIu64, store_version(h->store));
	(void)json_object_set_new(json_object_get(object, "metadata"), "resourceVersion",
				  json_string(version));
	watch_publish(h, "DELETED", key, object);
	return 0;
}

/* The grace period in force: what an earlier deletion said, else what the spec says. */
static int64_t grace_in_force(const json_t *object)
{
	uint64_t spec = json_u64(object, "spec.terminationGracePeriodSeconds", 30);

	return (int64_t)json_u64(object, "metadata.deletionGracePeriodSeconds", spec);
}

int object_mark_deleted(struct handler *h, const struct kind *k, json_t *object,
			int64_t grace_seconds, struct err *err)
{
	json_t *meta = json_object_get(object, "metadata");
	bool first = !json_object_get(meta, "deletionTimestamp");
	char now[TIME_TEXT];
	int r;

	if (!first && (grace_seconds < 0 || grace_seconds >= grace_in_force(object)))
		return 0;
	if (first)
		(void)json_object_set_new(meta, "deletionTimestamp", json_string(time_now(now)));
	if (grace_seconds >= 0)
		(void)json_object_set_new(meta, "deletionGracePeriodSeconds",
					  json_integer(grace_seconds));
	r = object_update(h, k, object, err);
	return r < 0 ? r : 1;
}

void object_publish_status(struct handler *h, const struct kind *k, const json_t *object,
			   const json_t *status)
{
	_cleanup_json_ json_t *shown = json_deep_copy(object);
	char key[OBJECT_KEY_MAX], version[24];
	struct err err = {0};
	uint64_t next;

	if (json_equal(json_object_get(object, "status"), status))
		return;
	next = loop_version(h);
	if (!next)
		return;
	(void)snprintf(version, sizeof version, "%" PRIu64, next);
	if (put_status(h, object, version, status, &err) < 0)
		log_error("%s", err.msg);
	(void)json_object_set_new(shown, "status", json_deep_copy(status));
	(void)json_object_set_new(json_object_get(shown, "metadata"), "resourceVersion",
				  json_string(version));
	watch_publish(h, "MODIFIED", object_key(k, key), shown);
}
