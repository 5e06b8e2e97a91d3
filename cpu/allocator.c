// SPDX-License-Identifier: Apache-2.0
#include "cpu/allocator.h"

#include <errno.h>

#include "cpu/layout.h"
#include "cpu/numa.h"
#include "cpu/refusal.h"
#include "cpu/take.h"
#include "lib/cpus.h"

/*
 * The emulator takes one CPU, and under full-pcpus-only whatever completes the last core: KubeVirt
 * adds 1 or 2 under AlignCPUs, which is the same where cores have two threads.
 */
static int count_demand(const struct cpu_topology *topology, const struct cpu_policy *policy,
			const struct cpu_request *request, struct cpu_demand *ret, struct err *err)
{
	unsigned long long vcpus = (unsigned long long)request->sockets * request->cores;
	unsigned unit = policy->full_pcpus_only ? cpu_topology_threads(topology) : 1;
	struct cpu_demand d = {.threads = request->threads, .io = request->supplemental_io};

	if (!request->sockets || !request->cores || !request->threads)
		return err_set(err, -EINVAL,
			       "%u sockets x %u cores x %u threads is no vCPU: each is at least 1",
			       request->sockets, request->cores, request->threads);
	if (vcpus > CPU_MAX_VCPUS || vcpus * request->threads > CPU_MAX_VCPUS)
		return err_set(err, -ENOTSUP,
			       "%u sockets x %u cores x %u threads: a VM has at most %d vCPUs",
			       request->sockets, request->cores, request->threads, CPU_MAX_VCPUS);
	if (d.io > CPU_MAX_IO)
		return err_set(err, -ENOTSUP, "%u IO threads: supplementalPool has at most %d",
			       d.io, CPU_MAX_IO);
	d.vcpus = (unsigned)vcpus * d.threads;
	d.total = d.vcpus + d.io;
	if (request->isolate_emulator)
		d.emulator = unit - d.total % unit;
	d.total += d.emulator;
	*ret = d;
	return 0;
}

static enum cpu_verdict pick(const struct cpu_topology *topology, const struct cpu_policy *policy,
			     const cpu_set_t *free, unsigned n, cpu_set_t *ret)
{
	cpu_set_t near, whole;

	if (policy->full_pcpus_only) {
		if (n % cpu_topology_threads(topology) != 0)
			return CPU_REFUSED_ALIGNMENT;
		cpu_in_whole_cores(topology, free, &whole);
		if ((unsigned)CPU_COUNT(&whole) < n)
			return CPU_REFUSED_CORES;
	}
	if ((unsigned)CPU_COUNT(free) < n)
		return CPU_REFUSED_COUNT;
	if (!cpu_numa_align(topology, policy->topology, free, n, &near))
		return CPU_REFUSED_NUMA;
	CPU_AND(&near, &near, free); /* n of these at least, or there was no alignment */
	if (cpu_take(topology, &near, n, ret) < 0)
		return CPU_REFUSED_COUNT;
	if (policy->full_pcpus_only) {
		cpu_in_whole_cores(topology, ret, &whole);
		if (!CPU_EQUAL(&whole, ret))
			return CPU_REFUSED_CORES;
	}
	return CPU_FITS;
}

static enum cpu_verdict try_fit(const struct cpu_topology *topology,
				const struct cpu_policy *policy, const cpu_set_t *free,
				const struct cpu_demand *demand, struct cpu_assignment *ret)
{
	cpu_set_t cpus;
	enum cpu_verdict v = pick(topology, policy, free, demand->total, &cpus);

	if (v != CPU_FITS)
		return v;
	return cpu_lay_out(topology, &cpus, demand, ret) ? CPU_FITS : CPU_REFUSED_SIBLINGS;
}

/* Those of `free` whose NUMA node has that many groups of `size` siblings in `free`. */
static void in_nodes_with(const struct cpu_topology *topology, const cpu_set_t *free, unsigned size,
			  unsigned groups, cpu_set_t *ret)
{
	unsigned in_core[CPU_SETSIZE], in_node[CPU_SETSIZE] = {0};

	cpu_group_sizes(topology, CPU_LEVEL_CORE, free, in_core);
	for (unsigned i = 0; i < topology->n; i++)
		if (topology->cpus[i].cpu == topology->cpus[i].core)
			in_node[topology->cpus[i].numa] += in_core[topology->cpus[i].core] / size;
	CPU_ZERO(ret);
	for (unsigned i = 0; i < topology->n; i++)
		if (in_node[topology->cpus[i].numa] >= groups &&
		    CPU_ISSET(topology->cpus[i].cpu, free))
			CPU_SET(topology->cpus[i].cpu, ret);
}

/*
 * The kubelet counts loose threads like any others, so its choice can break a core or miss sibling
 * pairs although enough are free (a node with many loose threads, cores of unequal size). Then the
 * same choice is made again: among the nodes that have enough groups, then among such cores.
 */
static enum cpu_verdict fit(const struct cpu_topology *topology, const struct cpu_policy *policy,
			    const cpu_set_t *free, const struct cpu_demand *demand,
			    struct cpu_assignment *ret)
{
	enum cpu_verdict again, v = try_fit(topology, policy, free, demand, ret);
	unsigned size = demand->threads, groups = demand->vcpus / demand->threads;
	cpu_set_t useful;

	if (v != CPU_REFUSED_CORES && v != CPU_REFUSED_SIBLINGS)
		return v;
	if (policy->full_pcpus_only) {
		size = cpu_topology_threads(topology);
		groups = demand->total / size;
	}
	in_nodes_with(topology, free, size, groups, &useful);
	if (try_fit(topology, policy, &useful, demand, ret) == CPU_FITS)
		return CPU_FITS;
	cpu_in_cores_of(topology, free, size, &useful);
	again = try_fit(topology, policy, &useful, demand, ret);
	return again == CPU_FITS || again == CPU_REFUSED_NUMA ? again : v;
}

static void all_but_reserved(const struct cpu_topology *topology, const struct cpu_policy *policy,
			     cpu_set_t *ret)
{
	cpu_topology_all(topology, ret);
	cpus_minus(ret, &policy->reserved);
}

void cpu_shared_pool(const struct cpu_topology *topology, const struct cpu_holder *holders,
		     unsigned n_holders, cpu_set_t *ret)
{
	cpu_topology_all(topology, ret);
	for (unsigned i = 0; i < n_holders; i++)
		cpus_minus(ret, &holders[i].cpus);
}

int cpu_allocate(const struct cpu_topology *topology, const struct cpu_policy *policy,
		 const struct cpu_holder *holders, unsigned n_holders,
		 const struct cpu_request *request, struct cpu_assignment *ret, struct err *err)
{
	struct cpu_refusal refusal = {
		.topology = topology, .policy = policy, .holders = holders, .n_holders = n_holders};
	enum cpu_verdict on_empty_host;
	struct cpu_assignment out;
	int r = count_demand(topology, policy, request, &refusal.demand, err);

	if (r < 0)
		return r;
	all_but_reserved(topology, policy, &refusal.allocatable);
	cpu_shared_pool(topology, holders, n_holders, &refusal.free);
	cpus_minus(&refusal.free, &policy->reserved);
	if (policy->manager != CPU_MANAGER_STATIC) {
		refusal.verdict = CPU_REFUSED_POLICY;
		return cpu_refuse(&refusal, err);
	}
	refusal.verdict = fit(topology, policy, &refusal.free, &refusal.demand, &out);
	if (refusal.verdict == CPU_FITS) {
		*ret = out;
		return 0;
	}
	on_empty_host = fit(topology, policy, &refusal.allocatable, &refusal.demand, &out);
	refusal.for_now = on_empty_host == CPU_FITS;
	if (!refusal.for_now)
		refusal.verdict = on_empty_host;
	return cpu_refuse(&refusal, err);
}
