// SPDX-License-Identifier: Apache-2.0
/*
 * The host's online CPUs: which core, socket and NUMA node each belongs to. Read through hwloc,
 * from this machine or from one of hwloc's synthetic descriptions; everything else in this folder
 * is pure over the plain table that comes out.
 */
#pragma once

#include <sched.h>

#include "lib/err.h"

struct cpu_info {
	int cpu;    /* the kernel's number */
	int core;   /* unique in the machine: the core's lowest online CPU */
	int socket; /* the kernel's package number; 0 where it knows no packages */
	int numa;   /* the kernel's node number */
};

struct cpu_topology {
	unsigned n;
	struct cpu_info cpus[CPU_SETSIZE]; /* ascending by cpu */
};

enum cpu_level { CPU_LEVEL_NUMA, CPU_LEVEL_SOCKET, CPU_LEVEL_CORE };

/*
 * This machine, with CPUs that the caller's own cpuset hides (those of other partitions) included.
 * Never moves the calling thread. Removes HWLOC_* from the environment for good: such a variable
 * would silently put another machine in place of this one.
 */
int cpu_topology_load(struct cpu_topology *ret, struct err *err);

/* A machine described as "pack:2 numa:1 core:4 pu:2"; -EINVAL if hwloc can't read that. */
int cpu_topology_synthetic(const char *description, struct cpu_topology *ret, struct err *err);

void cpu_topology_all(const struct cpu_topology *topology, cpu_set_t *ret);

/* Threads of the largest core: 1 without SMT. */
unsigned cpu_topology_threads(const struct cpu_topology *topology);

/* The group (node, socket or core) of one CPU; always in [0, CPU_SETSIZE). */
int cpu_group(const struct cpu_info *cpu, enum cpu_level level);

/* ret[group] = how many of the group's CPUs are in `within` (NULL: how many it has at all). */
void cpu_group_sizes(const struct cpu_topology *topology, enum cpu_level level,
		     const cpu_set_t *within, unsigned ret[static CPU_SETSIZE]);

/* Those of `within` whose core has at least `min` CPUs in `within`. */
void cpu_in_cores_of(const struct cpu_topology *topology, const cpu_set_t *within, unsigned min,
		     cpu_set_t *ret);

/* Those of `within` whose core is in `within` as a whole. */
void cpu_in_whole_cores(const struct cpu_topology *topology, const cpu_set_t *within,
			cpu_set_t *ret);
