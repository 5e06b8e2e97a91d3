// SPDX-License-Identifier: Apache-2.0
#include "handler/verify_internal.h"

#include "lib/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define VALUE_MAX 200 /* of what is found in a line of text; "found" itself is whole */

/* Every promise, once. docs/inspect.md says what each name stands for. */
static const struct {
	const char *name;
	void (*run)(struct verify *v);
} checks[] = {
	{"processes", verify_processes},
	{"ids", verify_ids},
	{"idMaps", verify_id_maps},
	{"namespaces", verify_namespaces},
	{"sameNamespaces", verify_same_namespaces},
	{"capabilities", verify_capabilities},
	{"noNewPrivs", verify_no_new_privs},
	{"seccomp", verify_seccomp},
	{"seccompFilters", verify_seccomp_filters},
	{"dumpable", verify_dumpable},
	{"coreLimit", verify_core_limit},
	{"mounts", verify_mounts},
	{"rootEntries", verify_root_entries},
	{"devEntries", verify_dev_entries},
	{"groups", verify_groups},
	{"devices", verify_devices},
	{"memoryLimit", verify_memory},
	{"pidsLimit", verify_pids},
	{"cpuTime", verify_cpu_time},
	{"memoryNodes", verify_memory_nodes},
	{"guestMemory", verify_guest_memory},
	{"lockedMemory", verify_locked_memory},
	{"accel", verify_accel},
	{"vcpuThreads", verify_vcpu_threads},
	{"vcpuPins", verify_vcpu_pins},
	{"otherThreads", verify_other_threads},
	{"kernelThreads", verify_kernel_threads},
	{"scheduling", verify_scheduling},
	{"cpusets", verify_cpusets},
	{"ledger", verify_ledger},
	{"overlaps", verify_overlaps},
	{"exclusivity", verify_exclusivity},
	{"podBridges", verify_pod_bridges},
	{"podNics", verify_pod_nics},
	{"taps", verify_taps},
	{"vhost", verify_vhost},
	{"dummies", verify_dummies},
	{"otherLinks", verify_no_other_links},
	{"hostVeths", verify_host_veths},
	{"hostBridges", verify_host_bridges},
	{"netnsPin", verify_netns_pin},
};

const char *const *verify_checks(void)
{
	static const char *names[ARRAY_SIZE(checks) + 1];

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		names[i] = checks[i].name;
	return names;
}

json_t *verify_differences(const struct verify_promise *promise, const json_t *seen)
{
	struct verify v = {.p = promise, .seen = seen, .differences = json_array()};

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		v.check = checks[i].name;
		checks[i].run(&v);
	}
	return v.differences;
}

json_t *verify_network(const struct verify_promise *promise, const json_t *seen)
{
	static const char *const names[] = {"podBridges", "podNics",	 "taps",
					    "hostVeths",  "hostBridges", "netnsPin"};
	struct verify v = {.p = promise, .seen = seen, .differences = json_array()};

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		for (size_t j = 0; j < ARRAY_SIZE(names); j++)
			if (str_eq(checks[i].name, names[j])) {
				v.check = names[j];
				checks[i].run(&v);
			}
	return v.differences;
}

/* A value as JSON text, ASCII alone: whatever the pod chose as a name, it stays on its line. */
static char *value_text(const json_t *value)
{
	_cleanup_free_ char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII |
								      JSON_COMPACT | JSON_SORT_KEYS)
					  : NULL;

	if (!value || json_is_null(value))
		return xstrdup("absent");
	if (!text)
		return xstrdup("?");
	return xasprintf("%.*s%s", VALUE_MAX, text,
			 strnlen(text, VALUE_MAX + 1) > VALUE_MAX ? "…" : "");
}

void verify_differ(struct verify *v, json_t *wanted_consume, const json_t *found,
		   const char *subject, ...)
{
	_cleanup_free_ char *wanted = value_text(wanted_consume), *is = value_text(found);
	json_t *text, *is_found = found ? json_deep_copy(found) : json_null();
	char name[256];
	va_list ap;

	va_start(ap, subject);
	(void)vsnprintf(name, sizeof name, subject, ap); /* a longer one is cut */
	va_end(ap);
	for (char *c = name; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	text = json_sprintf("%s is %s, must be %s", name, is, wanted);
	(void)json_array_append_new(
		v->differences, json_pack("{s:s, s:o, s:o, s:o}", "what", v->check, "wanted",
					  wanted_consume ? wanted_consume : json_null(), "found",
					  is_found, "text", text ? text : json_string(v->check)));
}

void verify_each_process(struct verify *v, verify_process_fn *fn)
{
	const json_t *process;
	size_t i;

	json_array_foreach (json_object_get(v->seen, "processes"), i, process) {
		const char *name = json_str(process, "name");
		char who[64];

		(void)snprintf(who, sizeof who, "%.20s (pid %llu)", name ? name : "process",
			       (unsigned long long)json_u64(process, "pid", 0));
		fn(v, process, who);
	}
}

void verify_thread_name(const json_t *thread, char *ret, size_t size)
{
	_cleanup_free_ char *name = value_text(json_object_get(thread, "name"));

	(void)snprintf(ret, size, "thread %llu %.90s",
		       (unsigned long long)json_u64(thread, "tid", 0), name);
}

void verify_each_thread(struct verify *v, verify_thread_fn *fn)
{
	const json_t *process, *thread;
	size_t i, j;

	json_array_foreach (json_object_get(v->seen, "processes"), i, process) {
		json_array_foreach (json_object_get(process, "threads"), j, thread) {
			char who[128];

			verify_thread_name(thread, who, sizeof who);
			fn(v, process, thread, who);
		}
	}
}

bool verify_listed(const json_t *list, const char *text)
{
	const json_t *item;
	size_t i;

	json_array_foreach (list, i, item)
		if (str_eq(json_string_value(item), text))
			return true;
	return false;
}
