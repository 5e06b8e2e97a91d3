// SPDX-License-Identifier: Apache-2.0
#include "handler/manifests_apply.h"

#include "handler/objects.h"
#include "handler/objstore.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/sha256.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void problem(json_t *problems, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	if (json_array_size(problems) < MANIFESTS_PROBLEMS_MAX)
		(void)json_array_append_new(problems, json_string(text));
	free(text);
}

/* "/etc/virtpod/manifests/vm.yaml:17" is of file "vm.yaml"; the caller's. */
static char *file_of(const struct manifest_item *item)
{
	const char *slash = strrchr(item->place, '/'), *name = slash ? slash + 1 : item->place;
	const char *colon = strrchr(name, ':');

	return xstrndup(name, colon ? (size_t)(colon - name) : strlen(name));
}

static void hash_of(const json_t *object, char ret[static SHA256_HEX])
{
	_cleanup_free_ char *text = json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT);

	(void)sha256_hex(text, ret);
}

static const char *name_of(const struct manifest_item *item)
{
	return item->kind->singleton ? "default" : object_name(item->object);
}

static const char *ns_of(const struct manifest_item *item)
{
	return item->kind->namespaced ? manifest_ns(item) : "";
}

static void fill_route(const struct kind *k, const char *ns, const char *name, struct route *ret)
{
	*ret = (struct route){.to = name ? ROUTE_OBJECT : ROUTE_COLLECTION, .kind = k};
	(void)snprintf(ret->ns, sizeof ret->ns, "%s", ns);
	(void)snprintf(ret->name, sizeof ret->name, "%s", name ? name : "");
}

/* POST or PUT, as a client would; what the answer says is the problem. */
static bool send(struct handler *h, const struct manifest_item *item, bool create, bool dry,
		 json_t *problems)
{
	_cleanup_json_ json_t *answer = NULL;
	_cleanup_free_ char *body = json_dumps(item->object, JSON_COMPACT), *file = file_of(item);
	char hash[SHA256_HEX];
	struct call c = {.h = h,
			 .content_type = "application/json",
			 .body = body,
			 .body_len = strlen(body),
			 .manifest = file,
			 .manifest_hash = hash,
			 .dry_run = dry ? "All" : NULL};
	unsigned code;

	hash_of(item->object, hash);
	fill_route(item->kind, ns_of(item), create ? NULL : name_of(item), &c.route);
	code = create ? objects_create(&c, &answer) : objects_replace(&c, &answer);
	if (code >= 300)
		problem(problems, "%s: %s", item->place, json_str(answer, "message"));
	return code < 300;
}

static void say(const struct manifest_item *item, const char *what)
{
	_cleanup_free_ char *label = manifest_label(item);

	log_info("%s: %s %s", item->place, label, what);
}

static void end_vm(struct handler *h, const struct kind *k, json_t *object, const char *why,
		   json_t *problems)
{
	struct err err = {0};
	int r = json_get(object, "metadata.deletionTimestamp")
			? 0
			: object_mark_deleted(h, k, object, /* grace_seconds= */ -1, &err);

	if (r < 0)
		problem(problems, "%s", err.msg);
	if (r != 1)
		return;
	log_info("%s %s/%s: %s: deleted", k->singular, object_namespace(object),
		 object_name(object), why);
	handler_changed(h);
}

enum step { STEP_NONE, STEP_CREATE, STEP_REPLACE, STEP_END, STEP_REFUSED };

/* What an object's difference to its file asks for, whether or not it can be had. */
static enum step wanted_step(struct handler *h, const struct manifest_item *item, json_t *problems)
{
	_cleanup_json_ json_t *there = NULL;
	struct err err = {0};
	char hash[SHA256_HEX];
	int r = object_load(h, item->kind, ns_of(item), name_of(item), &there, &err);

	hash_of(item->object, hash);
	if (!name_of(item)[0])
		problem(problems, "%s: metadata.name: is missing: what is to be there needs a name",
			item->place);
	else if (r == -ENOENT)
		return STEP_CREATE;
	else if (r < 0)
		problem(problems, "%s: %s", item->place, err.msg);
	else if (!object_annotation(there, ANNOTATION_MANIFEST))
		problem(problems,
			"%s: an object of this name is there, and from no manifest: delete that "
			"one, or take this one out of the file",
			item->place);
	else if (str_eq(object_annotation(there, ANNOTATION_MANIFEST_HASH), hash))
		return STEP_NONE;
	else
		return item->kind->configuration ? STEP_REPLACE : STEP_END;
	return STEP_REFUSED;
}

static enum step decide(struct handler *h, const struct manifest_item *item, json_t *problems)
{
	enum step step = wanted_step(h, item, problems);

	if ((step == STEP_CREATE || step == STEP_REPLACE) &&
	    !send(h, item, step == STEP_CREATE, /* dry= */ true, problems))
		return STEP_REFUSED;
	return step;
}

static void end_changed(struct handler *h, const struct manifest_item *item, json_t *problems)
{
	_cleanup_json_ json_t *there = NULL;
	struct err err = {0};

	if (object_load(h, item->kind, ns_of(item), name_of(item), &there, &err) < 0)
		problem(problems, "%s: %s", item->place, err.msg);
	else
		end_vm(h, item->kind, there, "its manifest has changed", problems);
}

static void act(struct handler *h, const struct manifest_item *item, enum step step,
		json_t *problems)
{
	switch (step) {
	case STEP_CREATE:
		if (send(h, item, /* create= */ true, /* dry= */ false, problems))
			say(item, "created");
		break;
	case STEP_REPLACE:
		if (send(h, item, /* create= */ false, /* dry= */ false, problems))
			say(item, "configured");
		break;
	case STEP_END:
		end_changed(h, item, problems);
		break;
	case STEP_NONE:
	case STEP_REFUSED:
		break;
	}
}

void manifests_apply(struct handler *h, const struct manifest *wanted, json_t *refused,
		     json_t *problems)
{
	_cleanup_free_ enum step *steps = xcalloc(wanted->n, sizeof *steps);

	for (size_t i = 0; i < wanted->n; i++) {
		_cleanup_free_ char *file = file_of(&wanted->items[i]);

		steps[i] = decide(h, &wanted->items[i], problems);
		if (steps[i] == STEP_REFUSED)
			(void)json_object_set_new(refused, file, json_true());
	}
	for (size_t i = 0; i < wanted->n; i++) {
		_cleanup_free_ char *file = file_of(&wanted->items[i]);

		if (!json_object_get(refused, file))
			act(h, &wanted->items[i], steps[i], problems);
	}
}

static bool is_wanted(const struct manifest *wanted, const struct kind *k, const json_t *object)
{
	for (size_t i = 0; i < wanted->n; i++) {
		const struct manifest_item *item = &wanted->items[i];

		if (item->kind == k && str_eq(name_of(item), object_name(object)) &&
		    (!k->namespaced || str_eq(ns_of(item), object_namespace(object))))
			return true;
	}
	return false;
}

static void remove_config(struct handler *h, const struct kind *k, const json_t *object,
			  json_t *problems)
{
	_cleanup_json_ json_t *answer = NULL;
	struct call c = {.h = h};

	fill_route(k, k->namespaced ? object_namespace(object) : "", object_name(object), &c.route);
	if (objects_delete(&c, &answer) >= 300)
		problem(problems, "%s: %s", object_annotation(object, ANNOTATION_MANIFEST),
			json_str(answer, "message"));
	else
		log_info("%s %s: its manifest is gone: deleted", k->singular, object_name(object));
}

/* True when it is one; VMs go in their own time. */
static bool remove_if_stale(struct handler *h, const struct kind *k, json_t *object,
			    const struct manifest *wanted, const json_t *bad, json_t *problems)
{
	const char *file = object_annotation(object, ANNOTATION_MANIFEST);

	if (!file || json_object_get(bad, file) || is_wanted(wanted, k, object))
		return false;
	if (k->configuration)
		remove_config(h, k, object, problems);
	else
		end_vm(h, k, object, "its manifest is gone", problems);
	return true;
}

bool manifests_remove_stale(struct handler *h, const struct manifest *wanted, const json_t *bad,
			    json_t *problems)
{
	bool found = false;

	for (size_t i = 0; i < KINDS_MAX; i++) {
		_cleanup_json_ json_t *list = NULL;
		struct err err = {0};
		json_t *object;
		size_t n;

		if (kinds[i].read_only)
			continue;
		if (object_list(h, &kinds[i], NULL, &list, &err) < 0) {
			problem(problems, "%s", err.msg);
			return false;
		}
		json_array_foreach (list, n, object)
			found |= remove_if_stale(h, &kinds[i], object, wanted, bad, problems);
	}
	return !found;
}
