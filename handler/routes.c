// SPDX-License-Identifier: Apache-2.0
#include "handler/routes.h"

#include "lib/util.h"

#include <string.h>

#define PARTS_MAX 9 /* one more than the longest path has */

struct parts {
	const char *at[PARTS_MAX];
	size_t len[PARTS_MAX];
	size_t n;
};

/* Empty parts ("//") are no path of ours; a slash at the end is let pass, as Kubernetes does. */
static bool split(const char *path, struct parts *ret)
{
	ret->n = 0;
	while (*path == '/') {
		size_t len = strcspn(++path, "/");

		if (len == 0)
			return *path == 0;
		if (ret->n == PARTS_MAX)
			return false;
		ret->at[ret->n] = path;
		ret->len[ret->n++] = len;
		path += len;
	}
	return *path == 0;
}

static bool is(const struct parts *p, size_t i, const char *word)
{
	return i < p->n && strlen(word) == p->len[i] && !memcmp(p->at[i], word, p->len[i]);
}

static bool copy(const struct parts *p, size_t i, char *buf, size_t size)
{
	if (p->len[i] >= size)
		return false;
	memcpy(buf, p->at[i], p->len[i]);
	buf[p->len[i]] = 0;
	return true;
}

static bool subresource_group(const char *group)
{
	return str_eq(group, SUBRESOURCES_KUBEVIRT) || str_eq(group, SUBRESOURCES_VIRTPOD);
}

/* namespaces/NS/virtualmachineinstances/NAME/WHAT from part `i` on. */
static void subresource(const struct parts *p, size_t i, struct route *r)
{
	bool ours = str_eq(r->group, SUBRESOURCES_VIRTPOD);

	if (!ours && p->n == i + 1 && is(p, i, "version")) {
		r->to = ROUTE_SUBRESOURCE_VERSION;
		return;
	}
	if (p->n != i + 5 || !is(p, i, "namespaces") || !is(p, i + 2, "virtualmachineinstances") ||
	    !copy(p, i + 1, r->ns, sizeof r->ns) || !copy(p, i + 3, r->name, sizeof r->name))
		return;
	r->kind = kind_by_path("kubevirt.io", "v1", "virtualmachineinstances");
	if (!ours && is(p, i + 4, "console"))
		r->to = ROUTE_CONSOLE;
	else if (ours && is(p, i + 4, "inspect"))
		r->to = ROUTE_INSPECT;
	else if (ours && is(p, i + 4, "verify"))
		r->to = ROUTE_VERIFY;
	else if (ours && is(p, i + 4, "log"))
		r->to = ROUTE_LOG;
}

/* [namespaces/NS/]PLURAL[/NAME] from part `i` on. */
static void object(const struct parts *p, size_t i, struct route *r)
{
	char plural[64];
	/* "namespaces/NS" alone is the object; with more behind it, the place of other objects */
	bool in_ns = is(p, i, "namespaces") && p->n > i + 2;

	if (in_ns && !copy(p, i + 1, r->ns, sizeof r->ns))
		return;
	i += in_ns ? 2 : 0;
	if (p->n - i > 2 || !copy(p, i, plural, sizeof plural))
		return;
	r->kind = kind_by_path(r->group, r->version, plural);
	if (!r->kind || (in_ns && !r->kind->namespaced))
		return;
	if (p->n - i == 1)
		r->to = ROUTE_COLLECTION;
	else if ((in_ns || !r->kind->namespaced) && copy(p, i + 1, r->name, sizeof r->name))
		r->to = ROUTE_OBJECT;
}

/* Is there a kind of this group (and version, unless NULL)? */
static bool known_group(const char *group, const char *version)
{
	if (subresource_group(group))
		return !version || str_eq(version, "v1") ||
		       (str_eq(version, "v1alpha3") && str_eq(group, SUBRESOURCES_KUBEVIRT));
	for (size_t i = 0; i < KINDS_MAX; i++)
		if (str_eq(kinds[i].group, group) &&
		    (!version || str_eq(kinds[i].version, version) ||
		     str_eq(kinds[i].old_version, version)))
			return true;
	return false;
}

static void versioned(const struct parts *p, size_t i, struct route *r)
{
	if (!known_group(r->group, r->version))
		return;
	if (p->n == i)
		r->to = ROUTE_RESOURCES;
	else if (subresource_group(r->group))
		subresource(p, i, r);
	else
		object(p, i, r);
}

static void grouped(const struct parts *p, struct route *r)
{
	if (p->n == 1) {
		r->to = ROUTE_GROUPS;
		return;
	}
	if (!copy(p, 1, r->group, sizeof r->group) || !r->group[0])
		return;
	if (p->n == 2)
		r->to = known_group(r->group, NULL) ? ROUTE_GROUP : ROUTE_NOWHERE;
	else if (copy(p, 2, r->version, sizeof r->version))
		versioned(p, 3, r);
}

void route_parse(const char *path, struct route *ret)
{
	struct route r = {.to = ROUTE_NOWHERE};
	struct parts p;

	if (!split(path, &p) || p.n == 0)
		goto out;
	if (is(&p, 0, "apis"))
		grouped(&p, &r);
	else if (is(&p, 0, "api") && p.n == 1)
		r.to = ROUTE_API;
	else if (is(&p, 0, "api") && copy(&p, 1, r.version, sizeof r.version))
		versioned(&p, 2, &r);
	else if (p.n == 1 && is(&p, 0, "version"))
		r.to = ROUTE_VERSION;
	else if (p.n == 1 && (is(&p, 0, "healthz") || is(&p, 0, "livez") || is(&p, 0, "readyz")))
		r.to = ROUTE_HEALTH;
out:
	*ret = r;
}
