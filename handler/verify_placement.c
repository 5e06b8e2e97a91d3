// SPDX-License-Identifier: Apache-2.0
/* Guest memory on its nodes and in its pages, realtime vCPUs, locked memory. */
#include "handler/verify_internal.h"

#include "handler/numamaps.h"
#include "handler/realtime.h"

#include "lib/cpus.h"

#include <stdio.h>
#include <string.h>

/* Both cpusets of the pod: memory of all its threads. */
void verify_memory_nodes(struct verify *v)
{
	static const char *const groups[] = {"emu", "vcpu"};
	const char *nodes = v->p->plan->memory_nodes;

	for (size_t i = 0; nodes && i < ARRAY_SIZE(groups); i++) {
		char path[64];

		(void)snprintf(path, sizeof path, "cgroup.cpuset.%s.mems", groups[i]);
		verify_equal(v, json_string(nodes), json_get(v->seen, path),
			     "NUMA nodes of the pod's cpuset (%s)", groups[i]);
	}
}

/* Ordinary pages come when they are touched, and of any size: how many there are is the guest's affair. */
static void check_piece(struct verify *v, const char *host_nodes, uint64_t memory)
{
	uint64_t page = v->p->plan->hugepage_size;
	_cleanup_free_ char *policy =
		host_nodes ? xasprintf("bind:%s", host_nodes) : xstrdup("default");
	const json_t *entry = json_find(json_get(v->seen, "memory.guest"), "policy", policy);
	json_t *bytes;
	json_int_t sum = 0;
	cpu_set_t nodes;
	const char *node;

	if (!entry) {
		verify_differ(v, json_string(policy), json_get(v->seen, "memory.guest"),
			      "guest memory of policy %.60s", policy);
		return;
	}
	(void)cpus_parse(host_nodes ? host_nodes : "", &nodes); /* the plan's: checked */
	json_object_foreach (json_object_get(entry, "nodes"), node, bytes) {
		sum += json_integer_value(bytes);
		if (host_nodes && !CPU_ISSET(strtoul(node, NULL, 10), &nodes))
			verify_differ(v, json_integer(0), bytes,
				      "guest memory of policy %.60s on NUMA node %s", policy, node);
	}
	if (page) {
		_cleanup_json_ json_t *found = json_integer(sum);

		verify_equal(v, json_integer((json_int_t)page), json_object_get(entry, "pageBytes"),
			     "page size of guest memory (%.60s)", policy);
		verify_equal(v, json_integer((json_int_t)memory), found,
			     "bytes of guest memory (%.60s)", policy);
	}
}

void verify_guest_memory(struct verify *v)
{
	const struct plan *plan = v->p->plan;

	if (!numamaps_wanted(plan))
		return;
	for (unsigned i = 0; i < plan->n_cells; i++)
		check_piece(v, plan->cells[i].host_nodes, plan->cells[i].memory);
	if (!plan->n_cells && plan->hugepage_size)
		check_piece(v, NULL, plan->memory_guest);
}

static bool is_realtime(const struct verify *v, const json_t *thread)
{
	uint64_t vcpu = json_u64(thread, "vcpu", CPU_SETSIZE);
	cpu_set_t vcpus;

	return v->p->plan->realtime_vcpus && verify_is(thread, "role", "vcpu") &&
	       cpus_parse(v->p->plan->realtime_vcpus, &vcpus) == 0 && CPU_ISSET(vcpu, &vcpus);
}

static void check_scheduling(struct verify *v, const json_t *process, const json_t *thread,
			     const char *who)
{
	bool realtime = is_realtime(v, thread);

	(void)process;
	verify_equal(v, json_string(realtime ? "SCHED_FIFO" : "SCHED_OTHER"),
		     json_object_get(thread, "policy"), "%s scheduling policy", who);
	verify_equal(v, json_integer(realtime ? REALTIME_PRIORITY : 0),
		     json_object_get(thread, "priority"), "%s realtime priority", who);
}

void verify_scheduling(struct verify *v)
{
	verify_each_thread(v, check_scheduling);
}

static void check_locked(struct verify *v, const json_t *process, const char *who)
{
	const json_t *limit =
		json_find(json_object_get(process, "limits"), "name", "Max locked memory");

	if (!verify_is(process, "name", "qemu"))
		return;
	verify_equal(v, json_string("unlimited"), json_object_get(limit, "soft"),
		     "%s limit of locked memory", who);
	if (!json_u64(v->seen, "memory.lockedBytes", 0))
		verify_differ(v, json_string("more than 0"),
			      json_get(v->seen, "memory.lockedBytes"), "%s locked memory", who);
}

/* Huge pages can't go anywhere and are not in it: it is the rest of QEMU. */
void verify_locked_memory(struct verify *v)
{
	if (v->p->plan->realtime_vcpus)
		verify_each_process(v, check_locked);
}
