// SPDX-License-Identifier: Apache-2.0
#include "api/kind.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/schema.h"
#include "lib/util.h"

const struct kind kinds[KINDS_MAX] = {
	{
		.group = "kubevirt.io",
		.version = "v1",
		.old_version = "v1alpha3",
		.kind = "VirtualMachineInstance",
		.plural = "virtualmachineinstances",
		.singular = "virtualmachineinstance",
		.short_names = {"vmi", "vmis"},
		.namespaced = true,
		.schema = &schema_vmi,
	},
	{
		.group = "kubevirt.io",
		.version = "v1",
		.old_version = "v1alpha3",
		.kind = "VirtualMachine",
		.plural = "virtualmachines",
		.singular = "virtualmachine",
		.short_names = {"vm", "vms"},
		.namespaced = true,
		.schema = &schema_vm,
	},
	{
		.group = "kubevirt.io",
		.version = "v1",
		.old_version = "v1alpha3",
		.kind = "KubeVirt",
		.plural = "kubevirts",
		.singular = "kubevirt",
		.short_names = {"kv", "kvs"},
		.namespaced = true,
		.configuration = true,
		.schema = &schema_kubevirt,
	},
	{
		.group = "hco.kubevirt.io",
		.version = "v1beta1",
		.kind = "HyperConverged",
		.plural = "hyperconvergeds",
		.singular = "hyperconverged",
		.short_names = {"hco", "hcos"},
		.namespaced = true,
		.configuration = true,
		.schema = &schema_hyperconverged,
	},
	{
		.group = "kubelet.config.k8s.io",
		.version = "v1beta1",
		.kind = "KubeletConfiguration",
		.plural = "kubeletconfigurations",
		.singular = "kubeletconfiguration",
		.configuration = true,
		.singleton = true,
		.schema = &schema_kubelet,
	},
	{
		.group = "k8s.cni.cncf.io",
		.version = "v1",
		.kind = "NetworkAttachmentDefinition",
		.plural = "network-attachment-definitions",
		.singular = "network-attachment-definition",
		.short_names = {"net-attach-def"},
		.namespaced = true,
		.configuration = true,
		.schema = &schema_nad,
	},
	{
		.group = "",
		.version = "v1",
		.kind = "Namespace",
		.plural = "namespaces",
		.singular = "namespace",
		.short_names = {"ns"},
		.configuration = true,
		.schema = &schema_plain,
	},
	{
		.group = "",
		.version = "v1",
		.kind = "Node",
		.plural = "nodes",
		.singular = "node",
		.short_names = {"no"},
		.read_only = true,
		.schema = &schema_plain,
	},
	{
		.group = "",
		.version = "v1",
		.kind = "Event",
		.plural = "events",
		.singular = "event",
		.short_names = {"ev"},
		.namespaced = true,
		.read_only = true,
		.schema = &schema_plain,
	},
};

void kind_api_version(const struct kind *k, char *buf, unsigned size)
{
	(void)snprintf(buf, size, "%s%s%s", k->group, k->group[0] ? "/" : "", k->version);
}

static bool version_matches(const struct kind *k, const char *version)
{
	return !strcmp(k->version, version) || str_eq(k->old_version, version);
}

static bool api_version_matches(const struct kind *k, const char *api_version)
{
	const char *rest = api_version;

	if (k->group[0]) {
		rest = str_after(api_version, k->group);
		if (!rest || *rest++ != '/')
			return false;
	}
	return version_matches(k, rest);
}

static int wrong_version(const struct kind *k, const char *api_version, struct err *err)
{
	char right[64];

	kind_api_version(k, right, sizeof(right));
	if (!api_version)
		return err_set(err, -EINVAL, "apiVersion: is missing; of a %s it is %s", k->kind,
			       right);
	return err_set(err, -EINVAL, "apiVersion: '%.100s' has no kind %s; it is in %s",
		       api_version, k->kind, right);
}

int kind_find(const char *api_version, const char *kind, const struct kind **ret, struct err *err)
{
	if (!kind)
		return err_set(err, -EINVAL,
			       "kind: is missing; say which object this is, such as "
			       "VirtualMachineInstance");
	for (size_t i = 0; i < KINDS_MAX; i++) {
		if (strcmp(kinds[i].kind, kind) != 0)
			continue;
		if (!api_version || !api_version_matches(&kinds[i], api_version))
			return wrong_version(&kinds[i], api_version, err);
		*ret = &kinds[i];
		return 0;
	}
	if (kind_by_word(kind))
		return err_set(err, -EINVAL, "kind: '%.100s' is written %s", kind,
			       kind_by_word(kind)->kind);
	return err_set(err, -EINVAL,
		       "kind: '%.100s' is not known here; known are VirtualMachineInstance, "
		       "VirtualMachine, NetworkAttachmentDefinition, KubeVirt, HyperConverged, "
		       "KubeletConfiguration and Namespace",
		       kind);
}

/* A field that must be text: NULL when absent; fails when it is there, but not so. */
static int text_field(const json_t *object, const char *name, const char *example, const char **ret,
		      struct err *err)
{
	json_t *value = json_object_get(object, name), *other;
	const char *key;

	if (value && !json_is_null(value) && !json_is_string(value))
		return err_set(err, -EINVAL, "%s: must be a string, such as %s", name, example);
	*ret = json_string_value(value);
	if (*ret)
		return 0;
	json_object_foreach ((json_t *)object, key, other)
		if (!strcasecmp(key, name) && strcmp(key, name) != 0)
			return err_set(err, -EINVAL, "%s: is spelt %s", key, name);
	return 0;
}

int kind_of(const json_t *object, const struct kind **ret, struct err *err)
{
	const char *api_version = NULL, *kind = NULL;
	int r = text_field(object, "kind", "VirtualMachineInstance", &kind, err);

	if (r == 0)
		r = text_field(object, "apiVersion", "kubevirt.io/v1", &api_version, err);
	return r < 0 ? r : kind_find(api_version, kind, ret, err);
}

const struct kind *kind_by_path(const char *group, const char *version, const char *plural)
{
	for (size_t i = 0; i < KINDS_MAX; i++) {
		if (!strcmp(kinds[i].group, group) && !strcmp(kinds[i].plural, plural) &&
		    version_matches(&kinds[i], version))
			return &kinds[i];
	}
	return NULL;
}

/* Is it the first `len` letters of word, in any case? */
static bool begins(const char *name, const char *word, size_t len)
{
	return name && strlen(name) == len && !strncasecmp(name, word, len);
}

static bool word_matches(const struct kind *k, const char *word)
{
	size_t len = strcspn(word, ".");

	/* "vmi.kubevirt.io", as -o name prints it and kubectl takes it */
	if (word[len] && (!k->group[0] || strcasecmp(word + len + 1, k->group) != 0))
		return false;
	if (begins(k->kind, word, len) || begins(k->plural, word, len) ||
	    begins(k->singular, word, len))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(k->short_names); i++) {
		if (begins(k->short_names[i], word, len))
			return true;
	}
	return false;
}

const struct kind *kind_by_word(const char *word)
{
	for (size_t i = 0; i < KINDS_MAX; i++) {
		if (word_matches(&kinds[i], word))
			return &kinds[i];
	}
	return NULL;
}
