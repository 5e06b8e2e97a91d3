// SPDX-License-Identifier: Apache-2.0
#include "api/label.h"

#include "api/meta.h"
#include "lib/util.h"

const char *label_kind(const struct kind *k)
{
	return k->short_names[0] && !k->configuration ? k->short_names[0] : k->singular;
}

char *label_name(const struct kind *k, const char *ns, const char *name)
{
	if (k->singleton)
		return xstrdup(label_kind(k));
	if (!k->namespaced)
		return xasprintf("%s %s", label_kind(k), name);
	return xasprintf("%s %s/%s", label_kind(k), ns, name);
}

char *label_object(const struct kind *k, const json_t *object)
{
	return label_name(k, object_namespace(object), object_name(object));
}
