// SPDX-License-Identifier: Apache-2.0
/*
 * Guest memory. What is promised to lie on certain nodes is bound here by policy, though the pod's
 * cpuset.mems allows no other nodes than those of its CPUs: a policy belongs to the memory and holds
 * whoever touches it first (threads of the kernel are in no cpuset of ours), the emulator's CPU may
 * be on a node that is not the guest's, and each of a guest's nodes has its own. Huge pages are taken
 * at once: a page that is missing later would kill the guest with SIGBUS.
 */
#include "launcher/argv_internal.h"

#include "lib/cpus.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define GRANULARITY 8192 /* QEMU 7.2 rounds -m up to this, and a backend must have the same size */

/* Without an assignment, as `virtpod render` has none: one node, whose number nobody knows. */
static bool unplaced(const struct argv *a)
{
	return !a->fds && a->plan->dedicated_cpus && !a->plan->n_cells;
}

static unsigned n_backends(const struct argv *a)
{
	if (a->plan->n_cells)
		return a->plan->n_cells;
	return a->plan->hugepage_size || unplaced(a) ? 1 : 0;
}

static bool has_nodes(const struct argv *a)
{
	return a->plan->numa_passthrough;
}

void argv_memory_machine(struct argv *a)
{
	if (n_backends(a) && !has_nodes(a))
		args_opt(&a->args, "memory-backend", "ram0");
	if (a->plan->realtime_vcpus) /* a page that is merged with another's costs a fault when written */
		args_opt(&a->args, "mem-merge", "off");
}

/* ",KEY=n" or ",KEY=n-m" for each run of the list: QEMU takes the option more than once. */
static void add_ranges(struct args *v, const char *key, const char *list)
{
	size_t len;

	for (; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		args_opt(v, key, "%.*s", (int)len, list);
	}
}

static void add_backend(struct argv *a, unsigned i, uint64_t size, const char *host_nodes)
{
	uint64_t page = a->plan->hugepage_size;
	struct args *v = &a->args;

	args_add(v, "-object");
	args_addf(v, "memory-backend-%s,id=ram%u,size=%" PRIu64 "B", page ? "memfd" : "ram", i,
		  size);
	if (page) {
		args_opt(v, "hugetlb", "on");
		args_opt(v, "hugetlbsize", "%" PRIu64 "B", page);
		args_opt(v, "prealloc", "on");
	}
	if (host_nodes) {
		add_ranges(v, "host-nodes", host_nodes);
		args_opt(v, "policy", "bind");
	}
}

static void add_node(struct argv *a, unsigned i, const char *vcpus)
{
	struct args *v = &a->args;

	args_add(v, "-numa");
	args_addf(v, "node,nodeid=%u", i);
	add_ranges(v, "cpus", vcpus);
	args_opt(v, "memdev", "ram%u", i);
}

static void add_distances(struct argv *a)
{
	const struct plan *p = a->plan;

	for (unsigned i = 0; i < p->n_cells; i++)
		for (unsigned k = 0; k < p->n_cells; k++) {
			if (i == k) /* 10, always */
				continue;
			args_add(&a->args, "-numa");
			args_addf(&a->args, "dist,src=%u,dst=%u,val=%u", i, k,
				  p->cells[i].distance[k]);
		}
}

static uint64_t rounded(uint64_t bytes)
{
	return (bytes + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
}

/* For render: all vCPUs in one node. */
static void add_unplaced(struct argv *a)
{
	char vcpus[32];

	add_backend(a, 0, rounded(a->plan->memory_guest), "NODE");
	(void)snprintf(vcpus, sizeof vcpus, "0-%u", plan_vcpus(a->plan) - 1);
	if (has_nodes(a))
		add_node(a, 0, plan_vcpus(a->plan) > 1 ? vcpus : "0");
}

int argv_add_memory(struct argv *a, struct err *err)
{
	const struct plan *p = a->plan;
	struct args *v = &a->args;

	if (has_nodes(a) && !p->n_cells && !unplaced(a))
		return err_set(err, -EINVAL, "numa: the plan says no nodes");
	args_add(v, "-m");
	args_addf(v, "size=%" PRIu64 "B", p->memory_guest);
	if (unplaced(a))
		add_unplaced(a);
	else if (!p->n_cells && p->hugepage_size)
		add_backend(a, 0, p->memory_guest, NULL);
	for (unsigned i = 0; i < p->n_cells; i++)
		add_backend(a, i, rounded(p->cells[i].memory), p->cells[i].host_nodes);
	for (unsigned i = 0; has_nodes(a) && i < p->n_cells; i++)
		add_node(a, i, p->cells[i].vcpus);
	if (has_nodes(a))
		add_distances(a);
	if (p->realtime_vcpus) {
		args_add(v, "-overcommit");
		args_add(v, "mem-lock=on");
	}
	return 0;
}
