// SPDX-License-Identifier: Apache-2.0
/*
 * The kubelet walks all 2^nodes masks and stops at 8 nodes. Sums of the largest counts answer the
 * same questions (how few nodes can do, and can these still do without that one) for any number.
 */
#include "cpu/numa.h"

#include <stdlib.h>
#include <string.h>

struct nodes {
	unsigned n;
	int id[CPU_SETSIZE]; /* ascending */
	unsigned size[CPU_SETSIZE], is_free[CPU_SETSIZE];
};

static void list_nodes(const struct cpu_topology *topology, const cpu_set_t *free,
		       struct nodes *ret)
{
	unsigned size[CPU_SETSIZE], is_free[CPU_SETSIZE];

	cpu_group_sizes(topology, CPU_LEVEL_NUMA, NULL, size);
	cpu_group_sizes(topology, CPU_LEVEL_NUMA, free, is_free);
	ret->n = 0;
	for (int id = 0; id < CPU_SETSIZE; id++) {
		if (size[id] == 0)
			continue;
		ret->id[ret->n] = id;
		ret->size[ret->n] = size[id];
		ret->is_free[ret->n] = is_free[id];
		ret->n++;
	}
}

static int compare_descending(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x < y) - (x > y);
}

/* The sum of the k largest of n counts. */
static unsigned best_sum(const unsigned *counts, unsigned n, unsigned k)
{
	unsigned sorted[CPU_SETSIZE], sum = 0;

	memcpy(sorted, counts, n * sizeof counts[0]);
	qsort(sorted, n, sizeof sorted[0], compare_descending);
	for (unsigned i = 0; i < k; i++)
		sum += sorted[i];
	return sum;
}

/* The fewest nodes that hold `wanted` CPUs together, or 0 if all of them don't. */
static unsigned fewest_nodes(const unsigned *counts, unsigned n, unsigned wanted)
{
	for (unsigned k = 1; k <= n; k++)
		if (best_sum(counts, n, k) >= wanted)
			return k;
	return 0;
}

/* From the highest node down, leave out each that the lower ones can replace. */
static void choose_nodes(const struct nodes *nodes, unsigned k, unsigned wanted,
			 bool ret[static CPU_SETSIZE])
{
	unsigned have = 0;

	memset(ret, 0, CPU_SETSIZE * sizeof ret[0]);
	for (unsigned i = nodes->n; i-- > 0 && k > 0;) {
		if (i >= k && have + best_sum(nodes->is_free, i, k) >= wanted)
			continue;
		ret[nodes->id[i]] = true;
		have += nodes->is_free[i];
		k--;
	}
}

static bool admits(enum topology_manager_policy policy, unsigned used, unsigned least)
{
	switch (policy) {
	case TOPOLOGY_MANAGER_SINGLE_NUMA_NODE:
		return used == 1;
	case TOPOLOGY_MANAGER_RESTRICTED:
		return used > 0 && used == least;
	case TOPOLOGY_MANAGER_BEST_EFFORT:
	case TOPOLOGY_MANAGER_NONE:
		break;
	}
	return true;
}

bool cpu_numa_align(const struct cpu_topology *topology, enum topology_manager_policy policy,
		    const cpu_set_t *free, unsigned n, cpu_set_t *ret)
{
	bool chosen[CPU_SETSIZE];
	struct nodes nodes;
	unsigned used;

	if (policy == TOPOLOGY_MANAGER_NONE) {
		cpu_topology_all(topology, ret);
		return true;
	}
	list_nodes(topology, free, &nodes);
	used = fewest_nodes(nodes.is_free, nodes.n, n);
	if (!admits(policy, used, fewest_nodes(nodes.size, nodes.n, n)))
		return false;
	if (used == 0) { /* best effort, and not enough anywhere: the count will refuse it */
		cpu_topology_all(topology, ret);
		return true;
	}
	choose_nodes(&nodes, used, n, chosen);
	CPU_ZERO(ret);
	for (unsigned i = 0; i < topology->n; i++)
		if (chosen[topology->cpus[i].numa])
			CPU_SET(topology->cpus[i].cpu, ret);
	return true;
}
