// SPDX-License-Identifier: Apache-2.0
/*
 * DELETE: configuration goes at once; a VMI or VM is marked and goes when nothing of it is left (the
 * reconcile round). DeleteOptions come in the body or in the query, as Kubernetes takes them.
 */
#include "handler/events.h"
#include "handler/k8s_status.h"
#include "handler/namespaces.h"
#include "handler/objects.h"
#include "handler/objstore.h"

#include "api/cause.h"
#include "api/meta.h"
#include "api/schema.h"
#include "lib/json.h"

#include <errno.h>
#include <stdio.h>

#define GRACE_MAX                                                                                  \
	INT32_MAX /* seconds; far beyond any use, and its sum with a clock can't overflow */

struct options {
	int64_t grace; /* -1: not said */
	bool dry_run;
};

static unsigned parse_grace(const struct call *c, const json_t *body, int64_t *ret,
			    json_t **ret_status)
{
	const json_t *v = json_object_get(body, "gracePeriodSeconds");
	uint64_t seconds = 0;

	if (json_is_integer(v) && json_integer_value(v) >= 0)
		seconds = (uint64_t)json_integer_value(v);
	else if (v && !json_is_null(v))
		return k8s_bad_request(
			ret_status, "gracePeriodSeconds: must be a number of seconds, 0 or more");
	else if (!c->grace_period_seconds)
		return 0;
	else if (call_number(c->grace_period_seconds, &seconds) < 0)
		return k8s_bad_request(
			ret_status,
			"gracePeriodSeconds: '%.40s' is not a number of seconds, 0 or "
			"more",
			c->grace_period_seconds);
	*ret = (int64_t)(seconds < GRACE_MAX ? seconds : GRACE_MAX);
	return 0;
}

static unsigned check_preconditions(const struct call *c, const json_t *body, const json_t *object,
				    json_t **ret)
{
	const char *uid = json_str(body, "preconditions.uid");
	const char *version = json_str(body, "preconditions.resourceVersion");
	_cleanup_free_ char *why = NULL;

	if (uid && !str_eq(uid, object_uid(object)))
		why = xasprintf("Precondition failed: UID in precondition: %.40s, UID in object "
				"meta: %s",
				uid, object_uid(object));
	else if (version && !str_eq(version, json_str(object, "metadata.resourceVersion")))
		why = xasprintf("Precondition failed: ResourceVersion in precondition: %.40s, "
				"ResourceVersion in object meta: %s",
				version, json_str(object, "metadata.resourceVersion"));
	return why ? k8s_conflict(ret, c->route.kind, c->route.name, why) : 0;
}

/* A VMI can't go on without its VM here; doing something else than asked would end a guest. */
static unsigned check_propagation(const struct call *c, const json_t *body, json_t **ret)
{
	const char *said = json_str(body, "propagationPolicy");

	if (!said)
		said = c->propagation_policy;
	if (said && *said && !str_has_word("Orphan Background Foreground", said))
		return k8s_bad_request(
			ret, "propagationPolicy: is '%.40s', must be Background or Foreground",
			said);
	if (!str_eq(said, "Orphan") || c->route.kind->configuration)
		return 0;
	return k8s_bad_request(ret,
			       "propagationPolicy: Orphan is not supported yet; Background and "
			       "Foreground are");
}

static unsigned check_types(const json_t *body, json_t **ret)
{
	_cleanup_causes_ struct causes causes = {0};
	struct err err = {0};

	if (body)
		schema_check(&schema_delete_options, body, &causes);
	return causes_to_err(&causes, &err) < 0 ? k8s_bad_request(ret, "%s", err.msg) : 0;
}

static unsigned parse_options(const struct call *c, const json_t *object, struct options *ret,
			      json_t **ret_status)
{
	_cleanup_json_ json_t *body = NULL;
	unsigned code = c->body_len ? call_body(c, &body, ret_status) : 0;

	if (code == 0)
		code = check_types(body, ret_status);
	if (code == 0)
		code = call_dry_run(c, body, &ret->dry_run, ret_status);
	if (code == 0)
		code = check_propagation(c, body, ret_status);
	if (code == 0)
		code = parse_grace(c, body, &ret->grace, ret_status);
	return code ? code : check_preconditions(c, body, object, ret_status);
}

static unsigned check_namespace(const struct call *c, json_t **ret)
{
	_cleanup_free_ char *why = NULL;
	const char *name = c->route.name, *used = NULL;
	struct err err = {0};

	if (namespace_is_fixed(name))
		return k8s_forbidden(ret, c->route.kind, name, "this namespace is always there");
	if (namespace_in_use(c->h, name, &used, &err) < 0)
		return k8s_internal(ret, &err);
	if (!used)
		return 0;
	why = xasprintf("it holds %s; delete these first", used);
	return k8s_conflict(ret, c->route.kind, name, why);
}

static unsigned check(const struct call *c, json_t **ret)
{
	if (str_eq(c->route.kind->kind, "Namespace"))
		return check_namespace(c, ret);
	return objects_check_config(c, /* object= */ NULL, ret);
}

unsigned objects_delete(const struct call *c, json_t **ret)
{
	_cleanup_json_ json_t *object = NULL;
	struct options options = {.grace = -1};
	const struct kind *k = c->route.kind;
	struct err err = {0};
	unsigned code;
	int r = 0;

	if (k->read_only)
		return k8s_no_such_method(ret);
	code = objects_get(c, &object);
	if (code != 200) {
		*ret = TAKE_PTR(object);
		return code;
	}
	code = parse_options(c, object, &options, ret);
	if (code == 0)
		code = check(c, ret);
	if (code)
		return code;
	if (options.dry_run)
		r = 0;
	else if (k->configuration)
		r = object_remove(c->h, k, object, &err);
	else
		r = object_mark_deleted(c->h, k, object, options.grace, &err);
	if (r < 0)
		return k8s_internal(ret, &err);
	if (!options.dry_run && str_eq(k->kind, "Namespace"))
		events_drop(c->h, c->route.name);
	if (!options.dry_run)
		objects_changed(c);
	*ret = TAKE_PTR(object);
	return 200;
}
