// SPDX-License-Identifier: Apache-2.0
/* What a KubeletConfiguration says about CPUs, and how its numbers become CPUs. */
#pragma once

#include <stdbool.h>

#include "cpu/topology.h"

enum cpu_manager_policy { CPU_MANAGER_NONE, CPU_MANAGER_STATIC };

enum topology_manager_policy {
	TOPOLOGY_MANAGER_NONE,
	TOPOLOGY_MANAGER_BEST_EFFORT,	   /* fewest NUMA nodes where possible */
	TOPOLOGY_MANAGER_RESTRICTED,	   /* no more nodes than an empty host would need */
	TOPOLOGY_MANAGER_SINGLE_NUMA_NODE, /* one node or nothing */
};

struct cpu_policy {
	enum cpu_manager_policy manager;
	enum topology_manager_policy topology;
	bool full_pcpus_only; /* cpuManagerPolicyOptions.full-pcpus-only */
	cpu_set_t reserved;   /* reservedSystemCPUs: never exclusive, always in the shared pool */
};

/* The word in KubeletConfiguration topologyManagerPolicy. */
const char *topology_manager_policy_name(enum topology_manager_policy policy);

/* -EINVAL, naming the CPUs, if the policy reserves CPUs that this host doesn't have online. */
int cpu_policy_check(const struct cpu_policy *policy, const struct cpu_topology *topology,
		     struct err *err);

/* The n CPUs that the kubelet reserves where only a number is given. -ERANGE: the host has fewer. */
int cpu_reserve_count(const struct cpu_topology *topology, unsigned n, cpu_set_t *ret,
		      struct err *err);
