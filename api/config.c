// SPDX-License-Identifier: Apache-2.0
#include "api/config.h"

#include <errno.h>
#include <string.h>

#include "api/schema.h"
#include "lib/cpus.h"
#include "lib/json.h"

#define JSON_PATCH	 "kubevirt.kubevirt.io/jsonpatch"
#define JSON_PATCH_FIELD "metadata.annotations[" JSON_PATCH "]"
#define PATCH_EMULATION	 "/spec/configuration/developerConfiguration/useEmulation"
#define PATCH_GATES	 "/spec/configuration/developerConfiguration/featureGates"
#define PATCH_MAX	 65536 /* bytes of the annotation */

/* l2bridge needs no registration; a registration must say what it is here, too. */
static int check_plugins(const json_t *plugins, const char *field, struct err *err)
{
	const char *name;
	json_t *plugin;

	json_object_foreach ((json_t *)plugins, name, plugin) {
		const char *type = json_str(plugin, "domainAttachmentType");

		if (strcmp(name, "l2bridge") != 0)
			return err_set(err, -EINVAL, "%s: plugin '%.60s' " NOT_YET ": l2bridge is",
				       field, name);
		if (type && strcmp(type, "managedTap") != 0)
			return err_set(err, -EINVAL,
				       "%s.l2bridge.domainAttachmentType: is '%.60s', must be "
				       "managedTap",
				       field, type);
	}
	return 0;
}

static int apply_patch(struct cluster_config *cfg, const json_t *op, struct err *err)
{
	const char *verb = json_str(op, "op"), *path = json_str(op, "path");
	const json_t *value = json_object_get(op, "value");

	if (!verb || !path)
		return err_set(err, -EINVAL,
			       JSON_PATCH_FIELD ": each item needs op, path and value");
	if (strcmp(verb, "add") != 0 && strcmp(verb, "replace") != 0)
		return err_set(err, -EINVAL, JSON_PATCH_FIELD ": op '%.60s' " NOT_YET, verb);
	if (str_after(path, PATCH_GATES))
		return 0; /* gates only permit: see api/schema_config.c */
	if (strcmp(path, PATCH_EMULATION) != 0)
		return err_set(err, -EINVAL, JSON_PATCH_FIELD ": path '%.200s' " NOT_YET, path);
	if (!json_is_boolean(value))
		return err_set(err, -EINVAL,
			       JSON_PATCH_FIELD ": useEmulation must be true or false");
	cfg->use_emulation = cfg->use_emulation || json_is_true(value);
	return 0;
}

/* HyperConverged hands its annotation's JSON patch on to the KubeVirt object. */
static int apply_patches(struct cluster_config *cfg, const char *text, struct err *err)
{
	_cleanup_json_ json_t *patch = NULL;
	const json_t *op;
	size_t i;
	int r = json_parse(text, strlen(text), PATCH_MAX, &patch, err);

	if (r < 0) {
		err_prefix(err, JSON_PATCH_FIELD);
		return r;
	}
	if (!json_is_array(patch))
		return err_set(err, -EINVAL, JSON_PATCH_FIELD ": must be a list of operations");
	json_array_foreach (patch, i, op) {
		r = apply_patch(cfg, op, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int cluster_config_add(struct cluster_config *cfg, const json_t *obj, struct err *err)
{
	bool hco = str_eq(json_str(obj, "kind"), "HyperConverged");
	const char *plugins = hco ? "spec.networkBinding" : "spec.configuration.network.binding";
	const char *patch = json_str(obj, JSON_PATCH_FIELD);
	struct cluster_config c = *cfg;
	int r = check_plugins(json_get(obj, plugins), plugins, err);

	if (r < 0)
		return r;
	if (json_flag(obj,
		      hco ? "spec.developerConfiguration.useEmulation"
			  : "spec.configuration.developerConfiguration.useEmulation",
		      false))
		c.use_emulation = true;
	if (hco && patch) {
		r = apply_patches(&c, patch, err);
		if (r < 0)
			return r;
	}
	*cfg = c;
	return 0;
}

static int decode_topology(const char *text, enum kubelet_topology *ret, struct err *err)
{
	static const char *const names[] = {
		[TOPOLOGY_NONE] = "none",
		[TOPOLOGY_BEST_EFFORT] = "best-effort",
		[TOPOLOGY_RESTRICTED] = "restricted",
		[TOPOLOGY_SINGLE] = "single-numa-node",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(names[i], text)) {
			*ret = (enum kubelet_topology)i;
			return 0;
		}
	}
	return err_set(err, -EINVAL,
		       "topologyManagerPolicy: is '%.60s', must be none, best-effort, restricted "
		       "or single-numa-node",
		       text);
}

static int decode_options(const json_t *obj, struct kubelet_config *c, struct err *err)
{
	const char *full = json_str(obj, "cpuManagerPolicyOptions.full-pcpus-only");

	if (!full)
		return 0;
	if (strcmp(full, "true") != 0 && strcmp(full, "false") != 0)
		return err_set(err, -EINVAL,
			       "cpuManagerPolicyOptions.full-pcpus-only: is '%.60s', must be "
			       "\"true\" or \"false\"",
			       full);
	c->full_pcpus_only = full[0] == 't';
	if (c->full_pcpus_only && !c->cpu_manager_static)
		return err_set(err, -EINVAL,
			       "cpuManagerPolicyOptions.full-pcpus-only: needs cpuManagerPolicy: "
			       "static");
	return 0;
}

int kubelet_config_decode(const json_t *obj, struct kubelet_config *ret, struct err *err)
{
	const char *policy = json_str(obj, "cpuManagerPolicy");
	const char *reserved = json_str(obj, "reservedSystemCPUs");
	const char *topology = json_str(obj, "topologyManagerPolicy");
	struct kubelet_config c = {0};
	cpu_set_t cpus;
	int r;

	if (policy && strcmp(policy, "none") != 0 && strcmp(policy, "static") != 0)
		return err_set(err, -EINVAL, "cpuManagerPolicy: is '%.60s', must be none or static",
			       policy);
	c.cpu_manager_static = str_eq(policy, "static");
	CPU_ZERO(&cpus);
	if (reserved && cpus_parse(reserved, &cpus) < 0)
		return err_set(err, -EINVAL,
			       "reservedSystemCPUs: is '%.60s', must be a list such as 0-1,4",
			       reserved);
	/* as the kubelet: without it the last CPU could be given away, and the host with it */
	if (c.cpu_manager_static && CPU_COUNT(&cpus) == 0)
		return err_set(err, -EINVAL,
			       "reservedSystemCPUs: must name at least one CPU when "
			       "cpuManagerPolicy is static, such as reservedSystemCPUs: \"0\"");
	r = topology ? decode_topology(topology, &c.topology, err) : 0;
	if (r == 0)
		r = decode_options(obj, &c, err);
	if (r < 0)
		return r;
	c.reserved_cpus = CPU_COUNT(&cpus) > 0 ? xstrdup(reserved) : NULL;
	*ret = c;
	return 0;
}

void kubelet_config_done(struct kubelet_config *c)
{
	free(c->reserved_cpus);
	*c = (struct kubelet_config){0};
}
