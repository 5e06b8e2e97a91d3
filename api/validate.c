// SPDX-License-Identifier: Apache-2.0
#include "api/validate.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "api/default.h"
#include "api/meta.h"
#include "api/names.h"
#include "api/plan.h"
#include "api/schema.h"
#include "api/vm.h"
#include "lib/json.h"

__attribute__((format(printf, 4, 0))) static void
add(const struct check *c, enum cause_reason reason, const char *field, const char *fmt, va_list ap)
{
	_cleanup_free_ char *path = xasprintf("%s%s%s", c->prefix, *field ? "." : "", field);
	_cleanup_free_ char *message = NULL;

	if (vasprintf(&message, fmt, ap) < 0)
		message = NULL; /* out of memory: the place alone must do */
	cause_add(c->causes, reason, path, "%s", message ? message : "is not valid");
}

void check_add(const struct check *c, enum cause_reason reason, const char *field, const char *fmt,
	       ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(c, reason, field, fmt, ap);
	va_end(ap);
}

void check_item(const struct check *c, enum cause_reason reason, const char *list, size_t i,
		const char *field, const char *fmt, ...)
{
	_cleanup_free_ char *path = xasprintf("%s[%zu]%s%s", list, i, *field ? "." : "", field);
	va_list ap;

	va_start(ap, fmt);
	add(c, reason, path, fmt, ap);
	va_end(ap);
}

bool check_get(const struct check *c, const char *field, struct quantity *ret)
{
	const json_t *value = json_get(c->spec, field);

	return value && quantity_from_json(value, ret, NULL) == 0;
}

bool check_positive(const struct check *c, const char *field, struct quantity *ret)
{
	return check_get(c, field, ret) && quantity_sign(ret) > 0;
}

const char *check_shown(const struct check *c, const char *field)
{
	const char *text = json_str(c->spec, field);

	return text ? text : "";
}

static void check_placement(const struct check *c)
{
	static const char *const strategies[] = {"None", "LiveMigrate", "LiveMigrateIfPossible",
						 "External"};
	const char *eviction = json_str(c->spec, "evictionStrategy");
	const char *arch = json_str(c->spec, "architecture");
	const json_t *grace = json_get(c->spec, "terminationGracePeriodSeconds");
	bool known = false;

	for (size_t i = 0; eviction && i < ARRAY_SIZE(strategies); i++)
		known = known || !strcmp(strategies[i], eviction);
	if (eviction && !known)
		check_add(
			c, CAUSE_INVALID, "evictionStrategy",
			"is '%.60s', must be None, LiveMigrate, LiveMigrateIfPossible or External",
			eviction);
	else if (eviction && strcmp(eviction, "None") != 0)
		check_add(c, CAUSE_NOT_SUPPORTED, "evictionStrategy",
			  "%s " NOT_YET ": there is no other node; say None, or leave it out",
			  eviction);
	if (arch && (!strcmp(arch, "arm64") || !strcmp(arch, "s390x")))
		check_add(c, CAUSE_NOT_SUPPORTED, "architecture", "%s " NOT_YET ": amd64 is", arch);
	else if (arch && strcmp(arch, "amd64") != 0)
		check_add(c, CAUSE_INVALID, "architecture", "is '%.60s', must be amd64", arch);
	if (grace && (json_integer_value(grace) < 0 || json_integer_value(grace) > UINT32_MAX))
		check_add(c, CAUSE_INVALID, "terminationGracePeriodSeconds",
			  "is %" JSON_INTEGER_FORMAT ", must be from 0 to %u seconds",
			  json_integer_value(grace), UINT32_MAX);
}

static void check_spec(const struct check *c)
{
	check_placement(c);
	check_cpu(c);
	check_memory(c);
	check_boot(c);
	check_disks(c);
	check_nets(c);
	check_annotations(c);
}

/* Labels by which KubeVirt's own components find objects; users may not set them on a VMI. */
static void check_reserved_labels(const json_t *vmi, struct causes *causes)
{
	static const char *const reserved[] = {
		"kubevirt.io/created-by",      "kubevirt.io/nodeName",
		"kubevirt.io/schedulable",     "kubevirt.io/migrationTargetNodeName",
		"kubevirt.io/migrationJobUID", "kubevirt.io/install-strategy",
	};
	const json_t *labels = json_get(vmi, "metadata.labels");

	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++) {
		if (json_object_get(labels, reserved[i]))
			cause_add(causes, CAUSE_NOT_SUPPORTED, "metadata.labels",
				  "%s is reserved: it is set by the system", reserved[i]);
	}
}

void vmi_validate(const json_t *vmi, struct causes *causes)
{
	const struct check c = {
		.spec = json_get(vmi, "spec"),
		.prefix = "spec",
		.annotations = json_get(vmi, "metadata.annotations"),
		.annotations_path = "metadata.annotations",
		.causes = causes,
	};

	check_reserved_labels(vmi, causes);
	check_spec(&c);
}

static void check_run_strategy(const json_t *vm, struct causes *causes)
{
	static const char *const names[] = {"Always", "RerunOnFailure", "Once", "Manual", "Halted"};
	const char *strategy = json_str(vm, "spec.runStrategy");
	bool running = json_get(vm, "spec.running") != NULL;

	if (strategy && running)
		cause_add(causes, CAUSE_INVALID, "spec.running",
			  "can't stand beside spec.runStrategy: leave running out");
	if (!strategy && !running)
		cause_add(causes, CAUSE_INVALID, "spec.running",
			  "or spec.runStrategy must be there: say runStrategy: Always, "
			  "RerunOnFailure, Once, Manual or Halted");
	for (size_t i = 0; strategy && i < ARRAY_SIZE(names); i++) {
		if (!strcmp(names[i], strategy))
			return;
	}
	if (strategy)
		cause_add(causes, CAUSE_INVALID, "spec.runStrategy",
			  "is '%.60s', must be Always, RerunOnFailure, Once, Manual or Halted",
			  strategy);
}

/* Kubernetes' own bound, TotalAnnotationSizeLimitB: they are kept, joined and sent again and again. */
#define ANNOTATIONS_MAX (256 * 1024)

static void check_annotations_size(const json_t *map, const char *field, struct causes *causes)
{
	const char *key;
	json_t *value;
	size_t n = 0;

	json_object_foreach ((json_t *)map, key, value) {
		n += strlen(key) + json_string_length(value);
	}
	if (n > ANNOTATIONS_MAX)
		cause_add(causes, CAUSE_INVALID, field, "are %zu bytes, must be at most %d in all",
			  n, ANNOTATIONS_MAX);
}

static void check_keys(const json_t *map, const char *field, bool label, struct causes *causes)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)map, key, value) {
		struct err err = {0};

		if (name_qualified(key, &err) < 0)
			cause_add(causes, CAUSE_INVALID, field, "%s", err.msg);
		else if (label && name_label_value(json_string_value(value), &err) < 0)
			cause_add(causes, CAUSE_INVALID, field, "%s: %s", key, err.msg);
	}
}

/* Only the template's annotations reach the VMI: ours would be lost on the VM itself. */
static void check_lost_annotations(const json_t *vm, struct causes *causes)
{
	const char *key;
	json_t *value;

	json_object_foreach (json_get(vm, "metadata.annotations"), key, value) {
		_cleanup_free_ char *field = xasprintf("metadata.annotations[%.200s]", key);

		if (str_after(key, "virtpod.io/"))
			cause_add(causes, CAUSE_INVALID, field,
				  "belongs under spec.template.metadata.annotations");
	}
}

void vm_validate(const json_t *vm, struct causes *causes)
{
	_cleanup_json_ json_t *vmi = NULL;
	struct check c = {
		.prefix = "spec.template.spec",
		.annotations = json_get(vm, "spec.template.metadata.annotations"),
		.annotations_path = "spec.template.metadata.annotations",
		.causes = causes,
	};

	check_run_strategy(vm, causes);
	check_lost_annotations(vm, causes);
	if (!json_get(vm, "spec.template")) {
		cause_add(causes, CAUSE_REQUIRED, "spec.template",
			  "is missing: it holds the machine's spec");
		return;
	}
	check_keys(json_get(vm, "spec.template.metadata.labels"), "spec.template.metadata.labels",
		   /* label= */ true, causes);
	check_keys(c.annotations, c.annotations_path, /* label= */ false, causes);
	/* an instance type brings the size; refused as not built, it is not the user's omission */
	c.sized = json_get(vm, "spec.instancetype") || json_get(vm, "spec.preference");
	vmi = vm_to_vmi(vm);
	c.spec = json_get(vmi, "spec");
	check_spec(&c);
}

void metadata_validate(const json_t *obj, bool singleton, struct causes *causes)
{
	const char *name = object_name(obj);
	struct err err = {0};
	bool generated = json_get(obj, "metadata.generateName") != NULL;
	bool is_namespace = str_eq(json_str(obj, "kind"), "Namespace");

	/* who stores a generated name's object gives it one first, and asks again */
	if (!*name && !singleton && !generated)
		cause_add(causes, CAUSE_REQUIRED, "metadata.name", "is missing");
	else if (*name &&
		 (is_namespace ? name_dns1123_label : name_dns1123_subdomain)(name, &err) < 0)
		cause_add(causes, CAUSE_INVALID, "metadata.name", "%s", err.msg);
	else if (strlen(name) >= PLAN_MAX_NAME)
		cause_add(causes, CAUSE_INVALID, "metadata.name",
			  "is %zu characters long, must be at most %d", strlen(name),
			  PLAN_MAX_NAME - 1);
	err_clear(&err);
	if (name_dns1123_label(object_namespace(obj), &err) < 0)
		cause_add(causes, CAUSE_INVALID, "metadata.namespace", "%s", err.msg);
	check_keys(json_get(obj, "metadata.labels"), "metadata.labels", /* label= */ true, causes);
	check_keys(json_get(obj, "metadata.annotations"), "metadata.annotations",
		   /* label= */ false, causes);
	check_annotations_size(json_get(obj, "metadata.annotations"), "metadata.annotations",
			       causes);
	check_annotations_size(json_get(obj, "spec.template.metadata.annotations"),
			       "spec.template.metadata.annotations", causes);
}
