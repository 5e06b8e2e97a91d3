// SPDX-License-Identifier: Apache-2.0
/* Which NUMA nodes an allocation should stay in: the kubelet's topology manager, for CPUs alone. */
#pragma once

#include "cpu/policy.h"

/*
 * Of all sets of nodes with n CPUs in `free`, the one with the fewest nodes, then the lowest node
 * numbers (the highest bit that differs decides); *ret is all CPUs of these nodes. False if the policy
 * doesn't admit the best there is. Without a preference *ret is all CPUs.
 */
bool cpu_numa_align(const struct cpu_topology *topology, enum topology_manager_policy policy,
		    const cpu_set_t *free, unsigned n, cpu_set_t *ret);
