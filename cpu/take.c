// SPDX-License-Identifier: Apache-2.0
/*
 * One order serves every step: the free CPUs, sorted by (free CPUs in the group, group) at each of
 * three levels and then by number. Groups with little left come first, so that big holes stay
 * whole. The step that takes groups of one level walks that order and takes each group that is
 * free as a whole and not larger than what is still missing.
 */
#include "cpu/take.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define N_LEVELS 3

struct taker {
	const struct cpu_topology *topology;
	enum cpu_level level[N_LEVELS]; /* outermost first */
	unsigned missing;
	cpu_set_t left, taken;
};

struct ranked {
	int key[2 * N_LEVELS + 1];
	const struct cpu_info *cpu;
};

static unsigned count_groups(const struct cpu_topology *topology, enum cpu_level level)
{
	unsigned size[CPU_SETSIZE], n = 0;

	cpu_group_sizes(topology, level, NULL, size);
	for (unsigned i = 0; i < CPU_SETSIZE; i++)
		n += size[i] > 0;
	return n;
}

/* Several nodes in a socket (sub-NUMA clustering) turn the order of these two levels around. */
static void order_levels(struct taker *k)
{
	bool numa_first = count_groups(k->topology, CPU_LEVEL_SOCKET) >=
			  count_groups(k->topology, CPU_LEVEL_NUMA);

	k->level[0] = numa_first ? CPU_LEVEL_NUMA : CPU_LEVEL_SOCKET;
	k->level[1] = numa_first ? CPU_LEVEL_SOCKET : CPU_LEVEL_NUMA;
	k->level[2] = CPU_LEVEL_CORE;
}

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	for (unsigned i = 0; i < 2 * N_LEVELS + 1; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return 0;
}

static unsigned rank_left(const struct taker *k, struct ranked ret[static CPU_SETSIZE])
{
	unsigned size[N_LEVELS][CPU_SETSIZE], n = 0;

	for (unsigned l = 0; l < N_LEVELS; l++)
		cpu_group_sizes(k->topology, k->level[l], &k->left, size[l]);
	for (unsigned i = 0; i < k->topology->n; i++) {
		const struct cpu_info *cpu = &k->topology->cpus[i];
		struct ranked *r = &ret[n];

		if (!CPU_ISSET(cpu->cpu, &k->left))
			continue;
		for (unsigned l = 0; l < N_LEVELS; l++) {
			int group = cpu_group(cpu, k->level[l]);

			r->key[2 * l] = (int)size[l][group];
			r->key[2 * l + 1] = group;
		}
		r->key[2 * N_LEVELS] = cpu->cpu;
		r->cpu = cpu;
		n++;
	}
	qsort(ret, n, sizeof ret[0], compare_ranked);
	return n;
}

static void take_one(struct taker *k, int cpu)
{
	CPU_CLR(cpu, &k->left);
	CPU_SET(cpu, &k->taken);
	k->missing--;
}

static void take_whole_groups(struct taker *k, enum cpu_level level)
{
	struct ranked order[CPU_SETSIZE];
	unsigned size[CPU_SETSIZE], is_free[CPU_SETSIZE], n = rank_left(k, order);

	cpu_group_sizes(k->topology, level, NULL, size);
	cpu_group_sizes(k->topology, level, &k->left, is_free);
	for (unsigned i = 0; i < n; i++) {
		int group = cpu_group(order[i].cpu, level);

		if (!CPU_ISSET(order[i].cpu->cpu, &k->left)) /* went with its group */
			continue;
		if (is_free[group] != size[group] || k->missing < size[group])
			continue;
		for (unsigned j = 0; j < k->topology->n; j++)
			if (cpu_group(&k->topology->cpus[j], level) == group)
				take_one(k, k->topology->cpus[j].cpu);
	}
}

static void take_rest(struct taker *k)
{
	struct ranked order[CPU_SETSIZE];
	unsigned n = rank_left(k, order);

	for (unsigned i = 0; i < n && k->missing > 0; i++)
		take_one(k, order[i].cpu->cpu);
}

int cpu_take(const struct cpu_topology *topology, const cpu_set_t *free, unsigned n, cpu_set_t *ret)
{
	struct taker k = {.topology = topology, .missing = n};

	cpu_topology_all(topology, &k.left);
	CPU_AND(&k.left, &k.left, free);
	CPU_ZERO(&k.taken);
	if ((unsigned)CPU_COUNT(&k.left) < n)
		return -EBUSY;
	order_levels(&k);
	for (unsigned l = 0; l < N_LEVELS; l++)
		take_whole_groups(&k, k.level[l]);
	take_rest(&k);
	*ret = k.taken;
	return 0;
}
