// SPDX-License-Identifier: Apache-2.0
/* The sums of cpu/numa.c against the walk over all sets of nodes that they stand for. */
#include "tests/unit/cpu/machine.h"

#include <string.h>

#include "cpu/numa.h"

struct best {
	unsigned mask, nodes; /* 0: none */
	unsigned least_nodes; /* that would do on an empty machine */
};

static unsigned count_in(const struct cpu_topology *t, const cpu_set_t *within, unsigned mask)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->n; i++)
		n += (mask >> t->cpus[i].numa & 1) && CPU_ISSET(t->cpus[i].cpu, within);
	return n;
}

static struct best walk_all_masks(const struct cpu_topology *t, const cpu_set_t *free,
				  unsigned n_nodes, unsigned n)
{
	struct best best = {0};
	cpu_set_t all;

	cpu_topology_all(t, &all);
	for (unsigned mask = 1; mask < 1u << n_nodes; mask++) {
		unsigned nodes = (unsigned)__builtin_popcount(mask);

		if (count_in(t, &all, mask) >= n && (!best.least_nodes || nodes < best.least_nodes))
			best.least_nodes = nodes;
		if (count_in(t, free, mask) >= n && (!best.nodes || nodes < best.nodes)) {
			best.nodes = nodes; /* of equally many, the lowest mask came first */
			best.mask = mask;
		}
	}
	return best;
}

static void check(const struct cpu_topology *t, const cpu_set_t *free, unsigned n_nodes, unsigned n)
{
	struct best best = walk_all_masks(t, free, n_nodes, n);
	cpu_set_t got, want;

	cpu_topology_all(t, &want);
	for (unsigned i = 0; best.mask && i < t->n; i++)
		if (!(best.mask >> t->cpus[i].numa & 1))
			CPU_CLR(t->cpus[i].cpu, &want);
	assert_true(cpu_numa_align(t, TOPOLOGY_MANAGER_BEST_EFFORT, free, n, &got));
	assert_true(CPU_EQUAL(&got, &want));
	assert_int_equal(cpu_numa_align(t, TOPOLOGY_MANAGER_RESTRICTED, free, n, &got),
			 best.nodes && best.nodes == best.least_nodes);
	assert_int_equal(cpu_numa_align(t, TOPOLOGY_MANAGER_SINGLE_NUMA_NODE, free, n, &got),
			 best.nodes == 1);
	assert_true(cpu_numa_align(t, TOPOLOGY_MANAGER_NONE, free, n, &got));
	assert_int_equal(CPU_COUNT(&got), t->n);
}

static void agrees_with_all_masks(void **state)
{
	static const struct {
		const char *machine;
		unsigned nodes;
	} machines[] = {{"pack:1 core:4 pu:1", 1},
			{"pack:2 numa:1 core:3 pu:2", 2},
			{"pack:2 numa:2 core:3 pu:2", 4},
			{"pack:1 numa:6 core:2 pu:2", 6}};
	unsigned seed = 2463534242;

	(void)state;
	for (unsigned m = 0; m < 4; m++) {
		struct cpu_topology t;

		machine(machines[m].machine, &t);
		for (unsigned round = 0; round < 40; round++) {
			unsigned load = next_random(&seed) % 8;
			cpu_set_t free;

			CPU_ZERO(&free);
			for (unsigned i = 0; i < t.n; i++)
				if (next_random(&seed) % 8 >= load)
					CPU_SET(t.cpus[i].cpu, &free);
			for (unsigned n = 1; n <= t.n + 1; n++)
				check(&t, &free, machines[m].nodes, n);
		}
	}
}

/* 2^64 masks can't be walked; the sums don't mind. */
static void many_nodes(void **state)
{
	cpu_set_t free, got;
	struct cpu_topology t;

	(void)state;
	machine("pack:1 numa:64 core:2 pu:1", &t);
	cpu_topology_all(&t, &free);
	CPU_CLR(0, &free); /* node 0 has one CPU left */
	assert_true(cpu_numa_align(&t, TOPOLOGY_MANAGER_RESTRICTED, &free, 5, &got));
	assert_cpus(got, "0-5");
	assert_true(cpu_numa_align(&t, TOPOLOGY_MANAGER_RESTRICTED, &free, 6, &got));
	assert_cpus(got, "2-7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_all_masks),
		cmocka_unit_test(many_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
