// SPDX-License-Identifier: Apache-2.0
#include "handler/discovery.h"

#include "api/kind.h"
#include "lib/util.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

json_t *discovery_version(void)
{
	char major[16] = "", minor[16] = "";
	const char *dot = strchr(VIRTPOD_VERSION, '.');
	struct utsname u = {0};
	char platform[96];

	(void)uname(&u); /* empty names are what remains when it fails */
	(void)snprintf(platform, sizeof platform, "linux/%.60s", u.machine);
	(void)snprintf(major, sizeof major, "%.*s", (int)strcspn(VIRTPOD_VERSION, "."),
		       VIRTPOD_VERSION);
	(void)snprintf(minor, sizeof minor, "%.*s", (int)strcspn(dot + 1, "."), dot + 1);
	return json_pack("{s:s, s:s, s:s, s:s, s:s}", "major", major, "minor", minor, "gitVersion",
			 "v" VIRTPOD_VERSION, "virtpodVersion", VIRTPOD_VERSION, "platform",
			 platform);
}

json_t *discovery_api(void)
{
	return json_pack("{s:s, s:[s], s:[]}", "kind", "APIVersions", "versions", "v1",
			 "serverAddressByClientCIDRs");
}

static void add_version(json_t *list, const char *group, const char *version)
{
	_cleanup_free_ char *both = xasprintf("%s/%s", group, version);

	for (size_t i = 0; i < json_array_size(list); i++)
		if (str_eq(json_string_value(json_object_get(json_array_get(list, i), "version")),
			   version))
			return;
	(void)json_array_append_new(
		list, json_pack("{s:s, s:s}", "groupVersion", both, "version", version));
}

/* Versions of a group, the preferred one first. */
static json_t *versions(const char *group)
{
	json_t *list = json_array();

	if (str_eq(group, SUBRESOURCES_KUBEVIRT) || str_eq(group, SUBRESOURCES_VIRTPOD))
		add_version(list, group, "v1");
	if (str_eq(group, SUBRESOURCES_KUBEVIRT))
		add_version(list, group, "v1alpha3");
	for (size_t i = 0; i < KINDS_MAX; i++)
		if (str_eq(kinds[i].group, group))
			add_version(list, group, kinds[i].version);
	for (size_t i = 0; i < KINDS_MAX; i++)
		if (str_eq(kinds[i].group, group) && kinds[i].old_version)
			add_version(list, group, kinds[i].old_version);
	return list;
}

json_t *discovery_group(const char *group)
{
	json_t *list = versions(group);
	json_t *first = json_array_get(list, 0);

	return json_pack("{s:s, s:s, s:s, s:o, s:O}", "kind", "APIGroup", "apiVersion", "v1",
			 "name", group, "versions", list, "preferredVersion", first);
}

static void add_group(json_t *groups, const char *name)
{
	json_t *group;

	for (size_t i = 0; i < json_array_size(groups); i++)
		if (str_eq(json_string_value(json_object_get(json_array_get(groups, i), "name")),
			   name))
			return;
	group = discovery_group(name);
	(void)json_object_del(group, "kind"); /* a member of the list has none */
	(void)json_object_del(group, "apiVersion");
	(void)json_array_append_new(groups, group);
}

json_t *discovery_groups(void)
{
	json_t *groups = json_array();

	for (size_t i = 0; i < KINDS_MAX; i++)
		if (kinds[i].group[0])
			add_group(groups, kinds[i].group);
	add_group(groups, SUBRESOURCES_KUBEVIRT);
	add_group(groups, SUBRESOURCES_VIRTPOD);
	return json_pack("{s:s, s:s, s:o}", "kind", "APIGroupList", "apiVersion", "v1", "groups",
			 groups);
}

static json_t *verbs(const struct kind *k)
{
	if (k->read_only)
		return json_pack("[s,s,s]", "get", "list", "watch");
	if (k->configuration)
		return json_pack("[s,s,s,s,s,s]", "create", "delete", "get", "list", "update",
				 "watch");
	return json_pack("[s,s,s,s,s]", "create", "delete", "get", "list", "watch");
}

static json_t *resource(const struct kind *k)
{
	json_t *r = json_pack("{s:s, s:s, s:b, s:s, s:o}", "name", k->plural, "singularName",
			      k->singular, "namespaced", (int)k->namespaced, "kind", k->kind,
			      "verbs", verbs(k));
	json_t *shorts = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(k->short_names) && k->short_names[i]; i++)
		(void)json_array_append_new(shorts, json_string(k->short_names[i]));
	if (json_array_size(shorts) > 0)
		(void)json_object_set(r, "shortNames", shorts);
	json_decref(shorts);
	if (str_eq(k->group, "kubevirt.io"))
		(void)json_object_set_new(r, "categories", json_pack("[s]", "all"));
	return r;
}

static void add_subresource(json_t *list, const char *name)
{
	_cleanup_free_ char *full = xasprintf("virtualmachineinstances/%s", name);

	(void)json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:s, s:[s]}", "name", full,
						    "singularName", "", "namespaced", 1, "kind",
						    "VirtualMachineInstance", "verbs", "get"));
}

json_t *discovery_resources(const char *group, const char *version)
{
	_cleanup_free_ char *both = xasprintf("%s%s%s", group, group[0] ? "/" : "", version);
	json_t *list = json_array();

	for (size_t i = 0; i < KINDS_MAX; i++)
		if (kind_by_path(group, version, kinds[i].plural) == &kinds[i])
			(void)json_array_append_new(list, resource(&kinds[i]));
	if (str_eq(group, SUBRESOURCES_KUBEVIRT))
		add_subresource(list, "console");
	if (str_eq(group, SUBRESOURCES_VIRTPOD)) {
		add_subresource(list, "inspect");
		add_subresource(list, "log");
		add_subresource(list, "verify");
	}
	return json_pack("{s:s, s:s, s:s, s:o}", "kind", "APIResourceList", "apiVersion", "v1",
			 "groupVersion", both, "resources", list);
}
