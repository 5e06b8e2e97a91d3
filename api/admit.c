// SPDX-License-Identifier: Apache-2.0
#include "api/admit.h"

#include <errno.h>
#include <string.h>

#include "api/config.h"
#include "api/default.h"
#include "api/meta.h"
#include "api/nad.h"
#include "api/plan.h"
#include "api/schema.h"
#include "api/validate.h"
#include "lib/json.h"

/* Decoders say "FIELD: what is wrong". */
static void add_err(struct causes *causes, const struct err *err)
{
	const char *colon = strstr(err->msg, ": ");
	_cleanup_free_ char *field = xstrndup(err->msg, colon ? (size_t)(colon - err->msg) : 0);

	cause_add(causes, CAUSE_INVALID, field, "%s", colon ? colon + 2 : err->msg);
}

static void check_configuration(const char *kind, const json_t *obj, struct causes *causes)
{
	struct kubelet_config kubelet = {0};
	struct cluster_config cluster = {0};
	struct network network = {0};
	struct err err = {0};
	int r = 0;

	if (!strcmp(kind, "KubeletConfiguration"))
		r = kubelet_config_decode(obj, &kubelet, &err);
	else if (!strcmp(kind, "NetworkAttachmentDefinition"))
		r = nad_decode(obj, &network, &err);
	else if (!strcmp(kind, "KubeVirt") || !strcmp(kind, "HyperConverged"))
		r = cluster_config_add(&cluster, obj, &err);
	kubelet_config_done(&kubelet);
	network_done(&network);
	if (r < 0)
		add_err(causes, &err);
}

static void fill_in(json_t *obj, const struct kind *kind, const char *namespace)
{
	char version[64];

	object_drop_nulls(obj);
	object_unmark(obj);
	kind_api_version(kind, version, sizeof(version));
	(void)json_object_set_new(obj, "apiVersion", json_string(version));
	if (kind->namespaced && !json_get(obj, "metadata.namespace"))
		(void)json_path_set(obj, "metadata.namespace",
				    json_string(namespace ? namespace : "default"));
}

/*
 * Lists that defaults and rules compare item by item: an end before them, or one manifest keeps whoever
 * checks it busy for minutes.
 */
static bool within_bounds(const json_t *obj, struct causes *causes)
{
	static const struct {
		const char *field;
		size_t max;
	} lists[] = {{"domain.devices.disks", PLAN_MAX_DISKS},
		     {"volumes", PLAN_MAX_DISKS},
		     {"domain.devices.interfaces", PLAN_MAX_NICS},
		     {"networks", PLAN_MAX_NICS}};
	static const char *const specs[] = {"spec", "spec.template.spec"};
	size_t before = causes->n;

	for (size_t s = 0; s < ARRAY_SIZE(specs); s++)
		for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
			_cleanup_free_ char *path = xasprintf("%s.%s", specs[s], lists[i].field);
			size_t n = json_array_size(json_get(obj, path));

			if (n > lists[i].max)
				cause_add(causes, CAUSE_INVALID, path,
					  "are %zu, must be at most %zu", n, lists[i].max);
		}
	return causes->n == before;
}

/* Said of what the manifest holds: defaults would put an empty one there, and rules complain of that. */
static bool has_domain(const json_t *obj, const char *spec, struct causes *causes)
{
	_cleanup_free_ char *domain = xasprintf("%s.domain", spec);
	const char *absent = !json_get(obj, spec) ? spec : !json_get(obj, domain) ? domain : NULL;

	if (absent)
		cause_add(causes, CAUSE_REQUIRED, absent, "is missing: it describes the machine");
	return !absent;
}

static void check_rules(json_t *obj, const struct kind *kind, struct causes *causes)
{
	metadata_validate(obj, kind->singleton, causes);
	if (!within_bounds(obj, causes))
		return;
	if (!strcmp(kind->kind, "VirtualMachineInstance")) {
		if (!has_domain(obj, "spec", causes))
			return;
		vmi_default(obj);
		vmi_validate(obj, causes);
	} else if (!strcmp(kind->kind, "VirtualMachine")) {
		if (json_get(obj, "spec.template") &&
		    !has_domain(obj, "spec.template.spec", causes))
			return;
		vm_default(obj);
		vm_validate(obj, causes);
	} else {
		check_configuration(kind->kind, obj, causes);
	}
}

/*
 * Rules are checked on what is structurally sound only: after a wrong type they would report what
 * follows from it. What is merely not supported yet does not stop them.
 */
static bool sound(const struct causes *causes)
{
	for (size_t i = 0; i < causes->n; i++) {
		if (causes->list[i].reason != CAUSE_NOT_SUPPORTED)
			return false;
	}
	return causes->more == 0;
}

int admit(json_t *obj, const char *namespace, const struct kind **ret_kind, struct causes *causes)
{
	const struct kind *kind = NULL;
	struct err err = {0};

	if (!json_is_object(obj)) {
		cause_add(causes, CAUSE_INVALID, "",
			  "must be a map with apiVersion, kind, metadata");
		return -EINVAL;
	}
	if (kind_of(obj, &kind, &err) < 0) {
		add_err(causes, &err);
		return -EINVAL;
	}
	*ret_kind = kind;
	schema_check(kind->schema, obj, causes);
	if (sound(causes)) {
		fill_in(obj, kind, namespace);
		check_rules(obj, kind, causes);
	}
	return causes->n > 0 ? -EINVAL : 0;
}
