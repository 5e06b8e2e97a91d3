// SPDX-License-Identifier: Apache-2.0
#include "handler/k8s_status.h"

#include "lib/util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>

static json_t *status(unsigned code, const char *reason, const char *message)
{
	return json_pack("{s:s, s:s, s:{}, s:s, s:s, s:s, s:i}", "kind", "Status", "apiVersion",
			 "v1", "metadata", "status", "Failure", "message", message, "reason",
			 reason, "code", (int)code);
}

__attribute__((format(printf, 4, 0))) static unsigned
failure_va(json_t **ret, unsigned code, const char *reason, const char *fmt, va_list ap)
{
	_cleanup_free_ char *message = NULL;

	if (vasprintf(&message, fmt, ap) < 0)
		abort();
	str_one_line(message);
	*ret = status(code, reason, message);
	return code;
}

unsigned k8s_failure(json_t **ret, unsigned code, const char *reason, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)failure_va(ret, code, reason, fmt, ap);
	va_end(ap);
	return code;
}

unsigned k8s_bad_request(json_t **ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)failure_va(ret, 400, "BadRequest", fmt, ap);
	va_end(ap);
	return 400;
}

unsigned k8s_no_such_path(json_t **ret)
{
	return k8s_failure(ret, 404, "NotFound",
			   "the server could not find the requested resource");
}

unsigned k8s_no_such_method(json_t **ret)
{
	return k8s_failure(ret, 405, "MethodNotAllowed",
			   "the server does not allow this method on the requested resource");
}

/* "virtualmachines.kubevirt.io", or "nodes" for the core group. */
static char *resource_text(const struct kind *k)
{
	return xasprintf("%s%s%s", k->plural, k->group[0] ? "." : "", k->group);
}

static void set_details(json_t *object, const struct kind *k, const char *name, const char *kind)
{
	json_t *details = json_pack("{s:s, s:s}", "name", name, "kind", kind);

	if (k->group[0])
		(void)json_object_set_new(details, "group", json_string(k->group));
	(void)json_object_set_new(object, "details", details);
}

unsigned k8s_not_found(json_t **ret, const struct kind *k, const char *name)
{
	_cleanup_free_ char *resource = resource_text(k);

	(void)k8s_failure(ret, 404, "NotFound", "%s \"%s\" not found", resource, name);
	set_details(*ret, k, name, k->plural);
	return 404;
}

unsigned k8s_already_exists(json_t **ret, const struct kind *k, const char *name)
{
	_cleanup_free_ char *resource = resource_text(k);

	(void)k8s_failure(ret, 409, "AlreadyExists", "%s \"%s\" already exists", resource, name);
	set_details(*ret, k, name, k->plural);
	return 409;
}

unsigned k8s_forbidden(json_t **ret, const struct kind *k, const char *name, const char *why)
{
	_cleanup_free_ char *resource = resource_text(k);

	(void)k8s_failure(ret, 403, "Forbidden", "%s \"%s\" is forbidden: %s", resource, name, why);
	set_details(*ret, k, name, k->plural);
	return 403;
}

unsigned k8s_conflict(json_t **ret, const struct kind *k, const char *name, const char *why)
{
	_cleanup_free_ char *resource = resource_text(k);

	(void)k8s_failure(ret, 409, "Conflict", "Operation cannot be fulfilled on %s \"%s\": %s",
			  resource, name, why);
	set_details(*ret, k, name, k->plural);
	return 409;
}

/* "field: message", or all of them in brackets, as Kubernetes puts several. */
static char *causes_text(const struct causes *causes)
{
	char *text = NULL;

	for (size_t i = 0; i < causes->n; i++) {
		_cleanup_free_ char *before = text;
		_cleanup_free_ char *one = cause_text(&causes->list[i], NULL);

		text = before ? xasprintf("%s, %s", before, one) : TAKE_PTR(one);
	}
	return text;
}

unsigned k8s_invalid(json_t **ret, const struct kind *k, const char *name,
		     const struct causes *causes)
{
	_cleanup_free_ char *text = causes_text(causes);
	bool several = causes->n + causes->more > 1;

	(void)k8s_failure(ret, 422, "Invalid", "%s%s%s \"%s\" is invalid: %s%s%s", k->kind,
			  k->group[0] ? "." : "", k->group, name, several ? "[" : "",
			  text ? text : "", several ? "]" : "");
	set_details(*ret, k, name, k->kind);
	(void)json_object_set_new(json_object_get(*ret, "details"), "causes",
				  causes_to_json(causes));
	return 422;
}

unsigned k8s_internal(json_t **ret, const struct err *err)
{
	if (err->code == -ENOSPC)
		return k8s_failure(ret, 507, "InternalError", "Internal error occurred: %s",
				   err->msg);
	return k8s_failure(ret, 500, "InternalError", "Internal error occurred: %s", err->msg);
}

unsigned k8s_expired(json_t **ret, uint64_t asked, uint64_t oldest)
{
	return k8s_failure(ret, 410, "Expired",
			   "too old resource version: %" PRIu64 " (%" PRIu64 ")", asked, oldest);
}
