// SPDX-License-Identifier: Apache-2.0
/*
 * KubeVirt's order (its vcpu.go): per node, whole groups of siblings from each core for vCPUs; then
 * single threads from what is left, of the first node that has any, broken cores before whole
 * ones. Its two further passes make groups out of threads of different cores; such a guest core
 * would be a lie about caches and about who shares an execution unit, so here they don't exist.
 */
#include "cpu/layout.h"

#include <stdlib.h>

struct layout {
	const struct cpu_demand *demand;
	struct cpu_assignment *out;
	unsigned n_singles;
	int singles[CPU_SETSIZE]; /* left for IO threads and the emulator, in the order of use */
};

static int compare_position(const void *a, const void *b)
{
	const struct cpu_info *x = *(const struct cpu_info *const *)a;
	const struct cpu_info *y = *(const struct cpu_info *const *)b;

	if (x->numa != y->numa)
		return x->numa - y->numa;
	if (x->core != y->core)
		return x->core - y->core;
	return x->cpu - y->cpu;
}

static unsigned sort_by_position(const struct cpu_topology *topology, const cpu_set_t *cpus,
				 const struct cpu_info *ret[static CPU_SETSIZE])
{
	unsigned n = 0;

	for (unsigned i = 0; i < topology->n; i++)
		if (CPU_ISSET(topology->cpus[i].cpu, cpus))
			ret[n++] = &topology->cpus[i];
	qsort(ret, n, sizeof ret[0], compare_position);
	return n;
}

/* The run of CPUs from `begin` on that share its group; returns the run's end. */
static unsigned run_end(const struct cpu_info **cpus, unsigned begin, unsigned end,
			enum cpu_level level)
{
	unsigned i = begin + 1;

	while (i < end && cpu_group(cpus[i], level) == cpu_group(cpus[begin], level))
		i++;
	return i;
}

static void add_singles(struct layout *l, const struct cpu_info **cpus, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		l->singles[l->n_singles++] = cpus[i]->cpu;
}

/* vCPU groups from the first CPUs of a core of n; returns how many CPUs they took. */
static unsigned take_groups(struct layout *l, const struct cpu_info **core, unsigned n)
{
	unsigned used = 0;

	while (n - used >= l->demand->threads && l->out->n_vcpus < l->demand->vcpus)
		for (unsigned i = 0; i < l->demand->threads; i++)
			l->out->vcpu[l->out->n_vcpus++] = core[used++]->cpu;
	return used;
}

static void lay_node(struct layout *l, const struct cpu_info **cpus, unsigned n)
{
	const unsigned threads = l->demand->threads;
	unsigned left[CPU_SETSIZE]; /* of the core that begins here: its first CPU left over */
	unsigned end;

	for (unsigned i = 0; i < n; i = end) { /* cores too small for a group */
		end = run_end(cpus, i, n, CPU_LEVEL_CORE);
		if (end - i < threads)
			add_singles(l, cpus + i, end - i);
	}
	for (unsigned i = 0; i < n; i = end) { /* groups, and cores that they broke */
		end = run_end(cpus, i, n, CPU_LEVEL_CORE);
		left[i] = i + take_groups(l, cpus + i, end - i);
		if (end - i >= threads && end - left[i] < threads)
			add_singles(l, cpus + left[i], end - left[i]);
	}
	for (unsigned i = 0; i < n; i = end) { /* cores that could still hold a group */
		end = run_end(cpus, i, n, CPU_LEVEL_CORE);
		if (end - left[i] >= threads)
			add_singles(l, cpus + left[i], end - left[i]);
	}
}

bool cpu_lay_out(const struct cpu_topology *topology, const cpu_set_t *cpus,
		 const struct cpu_demand *demand, struct cpu_assignment *ret)
{
	struct cpu_assignment out = {.all = *cpus};
	struct layout l = {.demand = demand, .out = &out};
	const struct cpu_info *sorted[CPU_SETSIZE] = {NULL};
	unsigned n = sort_by_position(topology, cpus, sorted);

	for (unsigned i = 0, end; i < n; i = end) {
		end = run_end(sorted, i, n, CPU_LEVEL_NUMA);
		lay_node(&l, sorted + i, end - i);
	}
	if (out.n_vcpus < demand->vcpus)
		return false;
	for (unsigned i = 0; i < l.n_singles; i++) {
		if (out.n_io < demand->io)
			out.io[out.n_io++] = l.singles[i];
		else
			CPU_SET(l.singles[i], &out.emulator);
	}
	*ret = out;
	return true;
}
