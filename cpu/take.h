// SPDX-License-Identifier: Apache-2.0
/* Which n of the free CPUs: the best-fit order of the kubelet's static CPU manager. */
#pragma once

#include "cpu/topology.h"

/*
 * Whole NUMA nodes and sockets first, then whole cores, then threads of the cores that are used
 * most; everywhere the group with the fewest free CPUs first. Deterministic.
 * -EBUSY when there are fewer than n in `free`.
 */
int cpu_take(const struct cpu_topology *topology, const cpu_set_t *free, unsigned n,
	     cpu_set_t *ret);
