// SPDX-License-Identifier: Apache-2.0
#include "handler/placement.h"

#include "handler/hostmem.h"
#include "handler/hugepages.h"
#include "handler/memory.h"
#include "handler/realtime.h"
#include "handler/rlimits.h"

#include "lib/cpus.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>

static int node_of(const struct cpu_topology *topology, int cpu)
{
	for (unsigned i = 0; i < topology->n; i++)
		if (topology->cpus[i].cpu == cpu)
			return topology->cpus[i].numa;
	return 0; /* the allocator gives out CPUs of the topology only */
}

static void nodes_of(const struct cpu_topology *topology, const cpu_set_t *cpus, cpu_set_t *ret)
{
	CPU_ZERO(ret);
	for (int cpu = -1; (cpu = cpus_next(cpus, cpu)) >= 0;)
		CPU_SET(node_of(topology, cpu), ret);
}

static char *list_of(const cpu_set_t *set)
{
	char text[CPUS_TEXT_MAX];

	return xstrdup(cpus_format(set, text));
}

/* Only nodes that have memory; none of them left: NULL, and the kernel takes the nearest. */
static char *memory_of(const cpu_set_t *nodes, const cpu_set_t *with_memory)
{
	cpu_set_t both;

	CPU_AND(&both, nodes, with_memory);
	return CPU_COUNT(&both) ? list_of(&both) : NULL;
}

/* One piece, wherever the vCPUs are. */
static void make_one(struct plan *plan, char *host_nodes_consume)
{
	struct plan_cell *cell = &plan->cells[0];
	cpu_set_t vcpus;

	if (!host_nodes_consume)
		return;
	CPU_ZERO(&vcpus);
	for (unsigned i = 0; i < plan_vcpus(plan); i++)
		CPU_SET(i, &vcpus);
	*cell = (struct plan_cell){.host_nodes = host_nodes_consume,
				   .vcpus = list_of(&vcpus),
				   .memory = plan->memory_guest,
				   .distance = {10}};
	plan->n_cells = 1;
}

/* As the firmware gives them, within what QEMU takes: 10 is for a node and itself. */
static int set_distances(int root, const int *nodes, struct plan *plan, struct err *err)
{
	for (unsigned i = 0; i < plan->n_cells; i++)
		for (unsigned k = 0; k < plan->n_cells; k++) {
			unsigned d = 10;
			int r = i == k ? 0 : hostmem_distance(root, nodes[i], nodes[k], &d);

			if (r < 0)
				return err_errno(err, r, "distance of NUMA nodes %d and %d",
						 nodes[i], nodes[k]);
			if (i != k)
				d = d < 11 ? 11 : d > 254 ? 254 : d;
			plan->cells[i].distance[k] = (uint8_t)d;
		}
	return 0;
}

/* One cell, its share of the pages, and those vCPUs whose CPUs are on the node. */
static void fill_cell(const struct cpu_topology *topology, const struct cpu_assignment *cpus,
		      int node, uint64_t pages, struct plan *plan, struct plan_cell *cell)
{
	cpu_set_t vcpus, one;

	CPU_ZERO(&vcpus);
	CPU_ZERO(&one);
	CPU_SET(node, &one);
	for (unsigned i = 0; i < cpus->n_vcpus; i++)
		if (node_of(topology, cpus->vcpu[i]) == node)
			CPU_SET(i, &vcpus);
	cell->host_nodes = list_of(&one);
	cell->vcpus = list_of(&vcpus);
	cell->memory = pages * plan->hugepage_size;
}

/* KubeVirt's split: the same number of pages each, what is left over goes to the first ones. */
static int make_cells(int root, const struct cpu_topology *topology,
		      const struct cpu_assignment *cpus, const cpu_set_t *nodes, struct plan *plan,
		      struct err *err)
{
	uint64_t pages = plan->memory_guest / plan->hugepage_size;
	unsigned n = (unsigned)CPU_COUNT(nodes);
	int numbers[PLAN_MAX_CELLS];

	if (n > PLAN_MAX_CELLS || pages < n)
		return err_set(
			err, -ENOTSUP,
			"numa: the VM's CPUs are on %u NUMA nodes, its memory is %llu pages, "
			"and a guest has at most %d nodes: give it more memory, or fewer CPUs",
			n, (unsigned long long)pages, PLAN_MAX_CELLS);
	for (int node = -1; (node = cpus_next(nodes, node)) >= 0;) {
		unsigned i = plan->n_cells++;

		numbers[i] = node;
		fill_cell(topology, cpus, node, pages / n + (i < pages % n), plan, &plan->cells[i]);
	}
	return set_distances(root, numbers, plan, err);
}

static int check_memory(const cpu_set_t *nodes, const cpu_set_t *with_memory, struct err *err)
{
	char text[CPUS_TEXT_MAX];
	cpu_set_t bare = *nodes;

	cpus_minus(&bare, with_memory);
	if (!CPU_COUNT(&bare))
		return 0;
	return err_set(err, -ENOTSUP,
		       "numa: CPUs of the VM are on NUMA node %.200s, which has no memory: reserve "
		       "these CPUs (reservedSystemCPUs), or leave out numa.guestMappingPassthrough",
		       cpus_format(&bare, text));
}

int placement_make(int root, const struct cpu_topology *topology, const struct cpu_assignment *cpus,
		   struct plan *plan, struct err *err)
{
	cpu_set_t with_memory, nodes, vcpus;
	int r;

	if (!plan->dedicated_cpus)
		return 0;
	r = hostmem_nodes(root, &with_memory);
	if (r == -ENOENT && !plan->numa_passthrough)
		return 0;
	if (r < 0)
		return err_errno(err, r == -ENOENT ? -ENOTSUP : r,
				 "the host's NUMA nodes (/sys/devices/system/node/has_memory)");
	nodes_of(topology, &cpus->all, &nodes);
	plan->memory_nodes = memory_of(&nodes, &with_memory);
	CPU_ZERO(&vcpus);
	for (unsigned i = 0; i < cpus->n_vcpus; i++)
		CPU_SET(cpus->vcpu[i], &vcpus);
	nodes_of(topology, &vcpus, &nodes);
	if (!plan->numa_passthrough) {
		make_one(plan, memory_of(&nodes, &with_memory));
		return 0;
	}
	r = check_memory(&nodes, &with_memory, err);
	return r < 0 ? r : make_cells(root, topology, cpus, &nodes, plan, err);
}

int placement_decide(struct pod *pod, struct err *err)
{
	_cleanup_fd_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (root < 0)
		return err_errno(err, -errno, "/");
	r = placement_make(root, &pod->h->topology, &pod->cpus, pod->plan, err);
	if (r == 0)
		r = memory_check_nodes(root, pod, err);
	if (r == 0)
		r = hugepages_check(root, pod, err);
	if (r == 0)
		r = realtime_check(root, pod->plan, err);
	if (r == 0)
		r = rlimits_check(pod->plan, err);
	if (r < 0)
		return r;
	json_decref(pod->record.plan);
	pod->record.plan = plan_to_json(pod->plan);
	return 0;
}
