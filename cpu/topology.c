// SPDX-License-Identifier: Apache-2.0
#include "cpu/topology.h"

#include <errno.h>
#include <hwloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util.h"

static void hwloc_done(hwloc_topology_t *t)
{
	if (*t)
		hwloc_topology_destroy(*t);
}

static void clear_environment(void)
{
	for (char **e = environ; e && *e;) {
		if (!str_after(*e, "HWLOC_")) {
			e++;
			continue;
		}
		_cleanup_free_ char *name = xstrndup(*e, strcspn(*e, "="));

		(void)unsetenv(name); /* fails on malformed names only */
		e = environ;	      /* the array has moved up */
	}
}

/*
 * Package numbers are firmware's on some architectures and may be huge or absent; hwloc's own
 * numbering then serves for all of them, so that two packages never share a number.
 */
static bool packages_numbered(hwloc_topology_t t)
{
	hwloc_obj_t package = NULL;

	while ((package = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PACKAGE, package)))
		if (package->os_index >= CPU_SETSIZE)
			return false;
	return true;
}

static int read_pu(hwloc_topology_t t, hwloc_obj_t pu, bool numbered, struct cpu_info *ret,
		   struct err *err)
{
	hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_CORE, pu);
	hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_PACKAGE, pu);
	/* nodes without CPUs of their own (HBM) are listed too; the kernel numbers them last */
	int numa = pu->nodeset ? hwloc_bitmap_first(pu->nodeset) : 0;

	if (pu->os_index >= CPU_SETSIZE || numa >= CPU_SETSIZE)
		return err_set(err, -ERANGE,
			       "CPU %u on NUMA node %d: numbers below %d are supported",
			       pu->os_index, numa, CPU_SETSIZE);
	ret->cpu = (int)pu->os_index;
	ret->core = core ? hwloc_bitmap_first(core->cpuset) : ret->cpu;
	ret->socket = 0;
	if (package)
		ret->socket = (int)(numbered ? package->os_index : package->logical_index);
	ret->numa = numa < 0 ? 0 : numa;
	return 0;
}

static int compare_cpu(const void *a, const void *b)
{
	return ((const struct cpu_info *)a)->cpu - ((const struct cpu_info *)b)->cpu;
}

static int read_all(hwloc_topology_t t, struct cpu_topology *ret, struct err *err)
{
	bool numbered = packages_numbered(t);
	struct cpu_topology found = {0};
	hwloc_obj_t pu = NULL;

	while ((pu = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PU, pu))) {
		struct cpu_info cpu;
		int r = read_pu(t, pu, numbered, &cpu, err);

		if (r < 0)
			return r;
		if (found.n == CPU_SETSIZE) /* twice the same number: hwloc never does */
			return err_set(err, -ERANGE, "hwloc: more than %d CPUs", CPU_SETSIZE);
		found.cpus[found.n++] = cpu;
	}
	if (found.n == 0)
		return err_set(err, -ENODEV, "hwloc: no CPU found");
	qsort(found.cpus, found.n, sizeof found.cpus[0], compare_cpu);
	*ret = found;
	return 0;
}

/*
 * hwloc's x86 backend runs on each CPU in turn to ask it about itself, which would disturb the
 * guests that own them; the kernel's tables say all that is used here.
 */
static int choose_this_machine(hwloc_topology_t t, struct err *err)
{
	if (hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) < 0)
		return err_errno(err, -errno, "hwloc: including disallowed CPUs");
	/* fails where there is no such backend */
	(void)hwloc_topology_set_components(t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
	return 0;
}

static int load(const char *synthetic, struct cpu_topology *ret, struct err *err)
{
	_cleanup_(hwloc_done) hwloc_topology_t t = NULL;
	int r;

	clear_environment();
	if (hwloc_topology_init(&t) < 0)
		return err_errno(err, -ENOMEM, "hwloc: starting");
	if (!synthetic) {
		r = choose_this_machine(t, err);
		if (r < 0)
			return r;
	} else if (hwloc_topology_set_synthetic(t, synthetic) < 0) {
		return err_set(err, -EINVAL,
			       "'%s' is no hwloc topology; write it as 'pack:2 numa:1 core:4 pu:2'",
			       synthetic);
	}
	if (hwloc_topology_load(t) < 0)
		return err_errno(err, errno ? -errno : -EIO, "hwloc: reading the topology");
	return read_all(t, ret, err);
}

int cpu_topology_load(struct cpu_topology *ret, struct err *err)
{
	return load(NULL, ret, err);
}

int cpu_topology_synthetic(const char *description, struct cpu_topology *ret, struct err *err)
{
	return load(description, ret, err);
}

void cpu_topology_all(const struct cpu_topology *topology, cpu_set_t *ret)
{
	CPU_ZERO(ret);
	for (unsigned i = 0; i < topology->n; i++)
		CPU_SET(topology->cpus[i].cpu, ret);
}

unsigned cpu_topology_threads(const struct cpu_topology *topology)
{
	unsigned size[CPU_SETSIZE], max = 1;

	cpu_group_sizes(topology, CPU_LEVEL_CORE, NULL, size);
	for (unsigned i = 0; i < CPU_SETSIZE; i++)
		if (size[i] > max)
			max = size[i];
	return max;
}

int cpu_group(const struct cpu_info *cpu, enum cpu_level level)
{
	switch (level) {
	case CPU_LEVEL_NUMA:
		return cpu->numa;
	case CPU_LEVEL_SOCKET:
		return cpu->socket;
	case CPU_LEVEL_CORE:
		break;
	}
	return cpu->core;
}

void cpu_group_sizes(const struct cpu_topology *topology, enum cpu_level level,
		     const cpu_set_t *within, unsigned ret[static CPU_SETSIZE])
{
	memset(ret, 0, CPU_SETSIZE * sizeof ret[0]);
	for (unsigned i = 0; i < topology->n; i++)
		if (!within || CPU_ISSET(topology->cpus[i].cpu, within))
			ret[cpu_group(&topology->cpus[i], level)]++;
}

void cpu_in_cores_of(const struct cpu_topology *topology, const cpu_set_t *within, unsigned min,
		     cpu_set_t *ret)
{
	unsigned size[CPU_SETSIZE];
	cpu_set_t found;

	CPU_ZERO(&found);
	cpu_group_sizes(topology, CPU_LEVEL_CORE, within, size);
	for (unsigned i = 0; i < topology->n; i++) {
		const struct cpu_info *c = &topology->cpus[i];

		if (CPU_ISSET(c->cpu, within) && size[c->core] >= min)
			CPU_SET(c->cpu, &found);
	}
	*ret = found;
}

void cpu_in_whole_cores(const struct cpu_topology *topology, const cpu_set_t *within,
			cpu_set_t *ret)
{
	unsigned has[CPU_SETSIZE], size[CPU_SETSIZE];
	cpu_set_t found;

	CPU_ZERO(&found);
	cpu_group_sizes(topology, CPU_LEVEL_CORE, NULL, size);
	cpu_group_sizes(topology, CPU_LEVEL_CORE, within, has);
	for (unsigned i = 0; i < topology->n; i++) {
		const struct cpu_info *c = &topology->cpus[i];

		if (CPU_ISSET(c->cpu, within) && has[c->core] == size[c->core])
			CPU_SET(c->cpu, &found);
	}
	*ret = found;
}
