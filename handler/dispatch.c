// SPDX-License-Identifier: Apache-2.0
#include "handler/dispatch.h"

#include "handler/call.h"
#include "handler/console.h"
#include "handler/discovery.h"
#include "handler/k8s_status.h"
#include "handler/logstream.h"
#include "handler/objects.h"
#include "handler/report.h"
#include "handler/stream.h"

#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>

static bool flag(const char *text)
{
	return str_eq(text, "1") || str_eq(text, "true");
}

static void fill_call(struct request *r, const char *path, struct call *ret)
{
	*ret = (struct call){
		.h = r->s->h,
		.content_type = request_header(r, MHD_HTTP_HEADER_CONTENT_TYPE),
		.body = r->body,
		.body_len = r->len,
		.label_selector = request_query(r, "labelSelector"),
		.field_selector = request_query(r, "fieldSelector"),
		.resource_version = request_query(r, "resourceVersion"),
		.timeout_seconds = request_query(r, "timeoutSeconds"),
		.grace_period_seconds = request_query(r, "gracePeriodSeconds"),
		.propagation_policy = request_query(r, "propagationPolicy"),
		.dry_run = request_query(r, "dryRun"),
		.container = request_query(r, "container"),
		.tail_lines = request_query(r, "tailLines"),
		.watch = flag(request_query(r, "watch")),
		.follow = flag(request_query(r, "follow")),
	};
	route_parse(path, &ret->route);
}

static unsigned get(struct server *s, const struct call *c, json_t **ret)
{
	const struct route *to = &c->route;

	switch (to->to) {
	case ROUTE_VERSION:
	case ROUTE_SUBRESOURCE_VERSION:
		*ret = discovery_version();
		return 200;
	case ROUTE_API:
		*ret = discovery_api();
		return 200;
	case ROUTE_GROUPS:
		*ret = discovery_groups();
		return 200;
	case ROUTE_GROUP:
		*ret = discovery_group(to->group);
		return 200;
	case ROUTE_RESOURCES:
		*ret = discovery_resources(to->group, to->version);
		return 200;
	case ROUTE_COLLECTION:
		return objects_list(c, ret);
	case ROUTE_OBJECT:
		return objects_get(c, ret);
	case ROUTE_INSPECT:
	case ROUTE_VERIFY:
		return report_answer(s, c, ret);
	case ROUTE_NOWHERE:
	case ROUTE_HEALTH:
	case ROUTE_CONSOLE:
	case ROUTE_LOG:
		break;
	}
	return k8s_no_such_path(ret);
}

static unsigned answer(struct server *s, const char *method, const struct call *c, json_t **ret)
{
	enum route_to to = c->route.to;

	if (to == ROUTE_NOWHERE)
		return k8s_no_such_path(ret);
	if (str_eq(method, MHD_HTTP_METHOD_GET) || str_eq(method, MHD_HTTP_METHOD_HEAD))
		return get(s, c, ret);
	if (str_eq(method, MHD_HTTP_METHOD_POST) && to == ROUTE_COLLECTION)
		return objects_create(c, ret);
	if (str_eq(method, MHD_HTTP_METHOD_PUT) && to == ROUTE_OBJECT)
		return objects_replace(c, ret);
	if (str_eq(method, MHD_HTTP_METHOD_DELETE) && to == ROUTE_OBJECT)
		return objects_delete(c, ret);
	return k8s_no_such_method(ret);
}

enum MHD_Result dispatch(struct request *r, const char *method, const char *path)
{
	bool reads = str_eq(method, MHD_HTTP_METHOD_GET);
	json_t *object = NULL;
	struct call c;
	unsigned code;

	fill_call(r, path, &c);
	if (reads && c.route.to == ROUTE_HEALTH)
		return reply_text(r, 200, "ok");
	if (reads && c.route.to == ROUTE_CONSOLE)
		return console_request(r, &c);
	if (reads && (c.route.to == ROUTE_INSPECT || c.route.to == ROUTE_VERIFY) &&
	    report_ask(r, &c))
		return MHD_YES;
	if (reads && c.route.to == ROUTE_COLLECTION && c.watch)
		return stream_request(r, &c);
	if (reads && c.route.to == ROUTE_LOG)
		return logstream_request(r, &c);
	code = answer(r->s, method, &c, &object);
	return reply_json(r, code, object);
}
