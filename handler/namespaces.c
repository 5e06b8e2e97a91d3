// SPDX-License-Identifier: Apache-2.0
#include "handler/namespaces.h"

#include "handler/objstore.h"

#include "api/kind.h"
#include "lib/json.h"

#include <errno.h>

static const char *const fixed[] = {"default", "kubevirt", "openshift-cnv"};

bool namespace_is_fixed(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (str_eq(fixed[i], name))
			return true;
	return false;
}

int namespace_ensure(struct handler *h, const char *name, struct err *err)
{
	const struct kind *k = kind_by_path("", "v1", "namespaces");
	_cleanup_json_ json_t *ns = NULL;
	struct err why = {0};
	int r = object_load(h, k, "", name, &ns, &why);

	if (r != -ENOENT) {
		if (r < 0)
			(void)err_set(err, r, "%s", why.msg);
		return r;
	}
	ns = json_pack("{s:s, s:s, s:{s:s, s:{s:s}}}", "apiVersion", "v1", "kind", "Namespace",
		       "metadata", "name", name, "labels", "kubernetes.io/metadata.name", name);
	object_prepare(k, ns);
	return object_insert(h, k, ns, err);
}

int namespaces_init(struct handler *h, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(fixed); i++)
		r = namespace_ensure(h, fixed[i], err);
	return r;
}

int namespace_in_use(struct handler *h, const char *name, const char **ret, struct err *err)
{
	const char *found = NULL;
	int r;

	for (size_t i = 0; !found && i < KINDS_MAX; i++) {
		_cleanup_json_ json_t *list = NULL;

		if (!kinds[i].namespaced || kinds[i].read_only)
			continue;
		r = object_list(h, &kinds[i], name, &list, err);
		if (r < 0)
			return r;
		if (json_array_size(list) > 0)
			found = kinds[i].plural;
	}
	*ret = found;
	return 0;
}
