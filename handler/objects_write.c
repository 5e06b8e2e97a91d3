// SPDX-License-Identifier: Apache-2.0
/* POST and PUT: admission, then what only a server can say, then the store. */
#include "handler/k8s_status.h"
#include "handler/objects.h"
#include "handler/objstore.h"

#include "api/admit.h"
#include "api/meta.h"
#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <stdint.h>
#include <sys/random.h>

#define GENERATED_LETTERS 5 /* as Kubernetes appends them to generateName */

/* Letters that make no words, as Kubernetes chose them for the same purpose. */
static void generate_name(json_t *object)
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	const char *prefix = json_str(object, "metadata.generateName");
	uint8_t random[GENERATED_LETTERS];
	char tail[GENERATED_LETTERS + 1] = "";
	_cleanup_free_ char *name = NULL;

	if (!prefix || !*prefix || object_name(object)[0])
		return;
	if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
		return; /* the missing name is then what is refused */
	for (size_t i = 0; i < sizeof random; i++)
		tail[i] = letters[random[i] % (sizeof letters - 1)];
	name = xasprintf("%s%s", prefix, tail);
	(void)json_object_set_new(json_object_get(object, "metadata"), "name", json_string(name));
	(void)json_object_del(json_object_get(object, "metadata"), "generateName");
}

/* The body's own kind must be what the path says. */
static unsigned check_kind(const struct call *c, const json_t *object, json_t **ret)
{
	const struct kind *want = c->route.kind, *k = NULL;
	struct err err = {0};
	char version[64];

	if (kind_of(object, &k, &err) < 0)
		return k8s_bad_request(ret, "%s", err.msg);
	kind_api_version(want, version, sizeof version);
	if (k != want)
		return k8s_bad_request(ret, "the object is a %s, but this path takes %s of %s",
				       k->kind, want->kind, version);
	return 0;
}

/* Namespace and name in the body, when they are there, must be those of the path. */
static unsigned check_place(const struct call *c, const json_t *object, json_t **ret)
{
	const char *ns = json_str(object, "metadata.namespace");
	const char *name = object_name(object);

	if (c->route.kind->namespaced && !c->route.ns[0])
		return k8s_bad_request(ret,
				       "the path must name a namespace: /namespaces/NAMESPACE/%s",
				       c->route.kind->plural);
	if (c->route.kind->namespaced && ns && *ns && !str_eq(ns, c->route.ns))
		return k8s_bad_request(ret,
				       "the namespace of the object (%.100s) is not the one of the "
				       "path (%s)",
				       ns, c->route.ns);
	if (c->route.name[0] && !c->route.kind->singleton && !str_eq(name, c->route.name))
		return k8s_bad_request(ret,
				       "the name of the object (%.100s) is not the one of the path "
				       "(%s)",
				       name, c->route.name);
	return 0;
}

/* Everything that is checked before an object may be written; *ret is it, or a Status. */
static unsigned admitted(const struct call *c, json_t **ret)
{
	_cleanup_causes_ struct causes causes = {0};
	_cleanup_json_ json_t *object = NULL;
	const struct kind *k = c->route.kind;
	unsigned code = call_body(c, &object, ret);

	if (code == 0)
		code = check_kind(c, object, ret);
	if (code == 0)
		code = check_place(c, object, ret);
	if (code)
		return code;
	generate_name(object);
	(void)json_object_del(object, "status");		/* never the user's to set */
	if (str_eq(json_str(object, "metadata.namespace"), "")) /* counts as absent */
		(void)json_object_del(json_object_get(object, "metadata"), "namespace");
	if (admit(object, c->route.ns, &k, &causes) < 0)
		return k8s_invalid(ret, k, k->singleton ? "default" : object_name(object), &causes);
	if (k->singleton) /* the one name it has, whatever the manifest says */
		(void)json_path_set(object, "metadata.name", json_string("default"));
	code = objects_check_config(c, object, ret);
	if (code == 0)
		*ret = TAKE_PTR(object);
	return code;
}

static void set_mark(json_t *object, const char *key, const char *value)
{
	_cleanup_free_ char *path = xasprintf("metadata.annotations[%s]", key);

	if (value)
		(void)json_path_set(object, path, json_string(value));
}

/* What a static manifest made is marked as its own, and stays so, whoever else writes it. */
static void mark(const struct call *c, const json_t *old, json_t *object)
{
	set_mark(object, ANNOTATION_MANIFEST,
		 c->manifest ? c->manifest : object_annotation(old, ANNOTATION_MANIFEST));
	set_mark(object, ANNOTATION_MANIFEST_HASH,
		 c->manifest ? c->manifest_hash : object_annotation(old, ANNOTATION_MANIFEST_HASH));
}

unsigned objects_create(const struct call *c, json_t **ret)
{
	_cleanup_json_ json_t *object = NULL;
	_cleanup_json_ json_t *old = NULL;
	const struct kind *k = c->route.kind;
	struct err err = {0};
	bool dry = false;
	unsigned code;
	int r;

	if (k->read_only)
		return k8s_no_such_method(ret);
	code = call_dry_run(c, NULL, &dry, ret);
	if (code)
		return code;
	code = admitted(c, ret);
	if (code)
		return code;
	object = *ret;
	*ret = NULL;
	object_prepare(k, object);
	mark(c, NULL, object);
	r = object_load(c->h, k, k->namespaced ? c->route.ns : "", object_name(object), &old, &err);
	if (r == 0)
		return k8s_already_exists(ret, k, object_name(object));
	if (r != -ENOENT)
		return k8s_internal(ret, &err);
	err_clear(&err);
	if (!dry) {
		if (object_insert(c->h, k, object, &err) < 0)
			return k8s_internal(ret, &err);
		objects_changed(c);
	}
	*ret = TAKE_PTR(object);
	return 201;
}

/* Who the object is stays; what it says is new. */
static void carry_over(const json_t *old, json_t *object)
{
	static const char *const kept[] = {"uid", "creationTimestamp", "generation",
					   "resourceVersion"};
	const json_t *from = json_object_get(old, "metadata");
	json_t *meta = json_object_get(object, "metadata");

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		(void)json_object_set(meta, kept[i], json_object_get(from, kept[i]));
}

/* Do they differ in anything but metadata? */
static bool content_differs(const json_t *a, const json_t *b)
{
	_cleanup_json_ json_t *x = json_copy((json_t *)(uintptr_t)a);
	_cleanup_json_ json_t *y = json_copy((json_t *)(uintptr_t)b);

	(void)json_object_del(x, "metadata");
	(void)json_object_del(y, "metadata");
	return !json_equal(x, y);
}

static unsigned check_version(const struct call *c, const json_t *old, const json_t *object,
			      json_t **ret)
{
	const char *version = json_str(object, "metadata.resourceVersion");
	const char *uid = object_uid(object);

	if (*uid && !str_eq(uid, object_uid(old)))
		return k8s_conflict(ret, c->route.kind, object_name(old),
				    "the uid in the body is not that of the object; it was deleted "
				    "and made anew");
	if (version && *version && !str_eq(version, json_str(old, "metadata.resourceVersion")))
		return k8s_conflict(
			ret, c->route.kind, object_name(old),
			"the object has been modified; please apply your changes to the "
			"latest version and try again");
	return 0;
}

/* VMs are not changed in place: KubeVirt refuses it for VMIs, we for VirtualMachines for now. */
static unsigned refuse_update(const struct call *c, json_t **ret)
{
	_cleanup_causes_ struct causes causes = {0};

	if (str_eq(c->route.kind->kind, "VirtualMachineInstance"))
		cause_add(&causes, CAUSE_NOT_SUPPORTED, "", "update of VMI object is restricted");
	else
		cause_add(&causes, CAUSE_NOT_SUPPORTED, "",
			  "changing a %s is not supported yet; delete it and create it again",
			  c->route.kind->kind);
	return k8s_invalid(ret, c->route.kind, c->route.name, &causes);
}

/* Store `object` in place of `old`, or leave both as they are when there is no difference. */
static unsigned replace(const struct call *c, bool dry, json_t *old, json_t *object, json_t **ret)
{
	const struct kind *k = c->route.kind;
	struct err err = {0};
	unsigned code = check_version(c, old, object, ret);

	if (code)
		return code;
	carry_over(old, object);
	mark(c, old, object);
	if (json_equal(old, object)) {
		*ret = json_incref(old);
		return 200;
	}
	if (content_differs(old, object))
		(void)json_object_set_new(
			json_object_get(object, "metadata"), "generation",
			json_integer((json_int_t)json_u64(old, "metadata.generation", 1) + 1));
	if (!dry) {
		if (object_update(c->h, k, object, &err) < 0)
			return k8s_internal(ret, &err);
		objects_changed(c);
	}
	*ret = json_incref(object);
	return 200;
}

unsigned objects_replace(const struct call *c, json_t **ret)
{
	_cleanup_json_ json_t *object = NULL;
	_cleanup_json_ json_t *old = NULL;
	const struct kind *k = c->route.kind;
	_cleanup_json_ json_t *given = NULL;
	bool dry = false;
	unsigned code;

	if (k->read_only)
		return k8s_no_such_method(ret);
	code = objects_get(c, &old);
	if (code != 200) {
		*ret = TAKE_PTR(old);
		return code;
	}
	if (!k->configuration)
		return refuse_update(c, ret);
	code = call_dry_run(c, NULL, &dry, ret);
	if (code == 0)
		code = admitted(c, &given);
	if (code) {
		if (given)
			*ret = TAKE_PTR(given);
		return code;
	}
	object = json_deep_copy(given);
	return replace(c, dry, old, object, ret);
}
