// SPDX-License-Identifier: Apache-2.0
/* Membership in the pod's groups, and what these allow. */
#include "handler/verify_internal.h"

#include "handler/podlimits.h"

#include "cgroups/devices.h"

#include <string.h>
#include <unistd.h>

/*
 * Each thread in every group of the pod; of the two cpusets a vCPU thread with CPUs of its own in
 * "cpusetVcpu" (v2: "vcpu"), all others in "cpuset" (v2: "emu").
 */
static void in_all_groups(struct verify *v, const json_t *process, const json_t *thread,
			  const char *who)
{
	bool vcpu = v->p->plan->dedicated_cpus && verify_is(thread, "role", "vcpu");
	const json_t *groups = json_object_get(thread, "groups");
	json_t *paths = json_get(v->seen, "cgroup.paths"), *path;
	const char *group;

	(void)process;
	json_object_foreach (paths, group, path) {
		bool own = str_eq(group, "cpusetVcpu") || str_eq(group, "vcpu");
		bool other = str_eq(group, "cpuset") || str_eq(group, "emu");
		bool wanted = own ? vcpu : other ? !vcpu : true;

		if (wanted != verify_listed(groups, group))
			verify_differ(v, json_boolean(wanted), wanted ? json_false() : json_true(),
				      "%s membership in group %s", who, group);
	}
}

void verify_groups(struct verify *v)
{
	if (!json_object_size(json_get(v->seen, "cgroup.paths")))
		verify_differ(v, json_string("there"), json_object_get(v->seen, "cgroup"),
			      "the pod's cgroup");
	verify_each_thread(v, in_all_groups);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(json_string_value(*(json_t *const *)a),
		      json_string_value(*(json_t *const *)b));
}

/* A sorted copy of a list of texts: the kernel lists devices in its own order. */
static json_t *sorted(const json_t *list)
{
	size_t n = json_array_size(list), used = 0;
	json_t **items = xcalloc(n + 1, sizeof(json_t *));
	json_t *copy = json_array();

	for (size_t i = 0; i < n; i++)
		if (json_is_string(json_array_get(list, i)))
			items[used++] = json_array_get(list, i);
	qsort(items, used, sizeof(json_t *), by_text);
	for (size_t i = 0; i < used; i++)
		(void)json_array_append(copy, items[i]);
	free(items);
	return copy;
}

void verify_devices(struct verify *v)
{
	struct cgroup_device devices[PODLIMITS_DEVICES_MAX];
	unsigned n = podlimits_devices(v->p->plan, devices);
	_cleanup_json_ json_t *list = json_array(), *found = NULL;

	if (!v->p->plan->isolation.devices)
		return;
	for (unsigned i = 0; i < n; i++) {
		char line[DEVICES_LINE_MAX];

		devices_format(&devices[i], line);
		(void)json_array_append_new(list, json_string(line));
	}
	found = sorted(json_object_get(v->seen, "devices"));
	verify_equal(v, sorted(list), found, "the device allowlist");
}

/* The kernel counts whole pages. Swap is limited by the same number where it is accounted at all. */
void verify_memory(struct verify *v)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	json_int_t limit = (json_int_t)(v->p->plan->memory_limit / page * page);
	const json_t *swap = json_get(v->seen, "cgroup.limits.memorySwapMax");

	if (!v->p->plan->isolation.limits)
		return;
	verify_equal(v, json_integer(limit), json_get(v->seen, "cgroup.limits.memoryMax"),
		     "the memory limit");
	if (swap && !json_is_null(swap))
		verify_equal(v, json_integer(limit), swap, "the limit of memory and swap");
}

void verify_pids(struct verify *v)
{
	if (v->p->plan->isolation.limits)
		verify_equal(v, json_integer((json_int_t)podlimits_pids(v->p->plan)),
			     json_get(v->seen, "cgroup.limits.pidsMax"), "the limit of processes");
}

/* In the period that step cgroup sets, 100 ms as Kubernetes does. */
void verify_cpu_time(struct verify *v)
{
	const struct plan *plan = v->p->plan;
	const json_t *limits = json_get(v->seen, "cgroup.limits");

	if (plan->cpu_shares && json_object_get(limits, "cpuWeight"))
		verify_equal(v, json_integer((json_int_t)cgroup_cpu_weight(plan->cpu_shares)),
			     json_object_get(limits, "cpuWeight"), "CPU weight");
	else if (plan->cpu_shares)
		verify_equal(v, json_integer((json_int_t)plan->cpu_shares),
			     json_object_get(limits, "cpuShares"), "CPU shares");
	if (plan->cpu_quota_us)
		verify_equal(v, json_integer(100000), json_object_get(limits, "cpuPeriodUs"),
			     "period of the CPU quota");
	verify_equal(
		v, plan->cpu_quota_us ? json_integer((json_int_t)plan->cpu_quota_us) : json_null(),
		json_object_get(limits, "cpuQuotaUs"), "the CPU quota");
}
