// SPDX-License-Identifier: Apache-2.0
#include "handler/objects.h"

#include "handler/config.h"
#include "handler/k8s_status.h"
#include "handler/node.h"
#include "handler/objstore.h"
#include "handler/selector.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

unsigned objects_get(const struct call *c, json_t **ret)
{
	const struct route *to = &c->route;
	struct err err = {0};
	int r = object_load(c->h, to->kind, to->ns, to->name, ret, &err);

	if (r == -ENOENT)
		return k8s_not_found(ret, to->kind, to->name);
	return r < 0 ? k8s_internal(ret, &err) : 200;
}

/* Items that the selectors let through. */
static json_t *selected(const json_t *list, const struct selector *s)
{
	json_t *items = json_array(), *object;
	size_t i;

	json_array_foreach (list, i, object)
		if (selector_matches(s, object))
			(void)json_array_append(items, object);
	return items;
}

unsigned objects_list(const struct call *c, json_t **ret)
{
	_cleanup_(selector_freep) struct selector *s = NULL;
	const struct kind *k = c->route.kind;
	_cleanup_json_ json_t *list = NULL;
	char version[24], api_version[64];
	struct err err = {0};

	if (selector_parse(k, c->label_selector, c->field_selector, &s, &err) < 0)
		return k8s_bad_request(ret, "%s", err.msg);
	if (object_list(c->h, k, c->route.ns[0] ? c->route.ns : NULL, &list, &err) < 0)
		return k8s_internal(ret, &err);
	(void)snprintf(version, sizeof version, "%" PRIu64, store_version(c->h->store));
	kind_api_version(k, api_version, sizeof api_version);
	*ret = json_pack("{s:s+, s:s, s:{s:s}, s:o}", "kind", k->kind, "List", "apiVersion",
			 api_version, "metadata", "resourceVersion", version, "items",
			 selected(list, s));
	return 200;
}

unsigned objects_check_config(const struct call *c, const json_t *object, json_t **ret)
{
	const struct kind *k = c->route.kind;
	_cleanup_causes_ struct causes causes = {0};
	struct err err = {0};
	int r;

	if (!str_eq(k->kind, "KubeletConfiguration"))
		return 0;
	r = config_check_kubelet(c->h, object, &err);
	if (r == -EBUSY)
		return k8s_conflict(ret, k, "default", err.msg);
	if (r == -EINVAL) {
		cause_add(&causes, CAUSE_INVALID, "", "%s", err.msg);
		return k8s_invalid(ret, k, "default", &causes);
	}
	return r < 0 ? k8s_internal(ret, &err) : 0;
}

void objects_changed(const struct call *c)
{
	struct err err = {0};

	if (c->route.kind->configuration) {
		if (config_load(c->h, &err) < 0) /* checked before: a damaged store */
			log_error("configuration: %s", err.msg);
		node_publish(c->h);
	}
	handler_changed(c->h);
}
