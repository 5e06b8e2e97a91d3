// SPDX-License-Identifier: Apache-2.0
#include "cpu/policy.h"

#include <errno.h>

#include "cpu/take.h"
#include "lib/cpus.h"

const char *topology_manager_policy_name(enum topology_manager_policy policy)
{
	switch (policy) {
	case TOPOLOGY_MANAGER_BEST_EFFORT:
		return "best-effort";
	case TOPOLOGY_MANAGER_RESTRICTED:
		return "restricted";
	case TOPOLOGY_MANAGER_SINGLE_NUMA_NODE:
		return "single-numa-node";
	case TOPOLOGY_MANAGER_NONE:
		break;
	}
	return "none";
}

int cpu_policy_check(const struct cpu_policy *policy, const struct cpu_topology *topology,
		     struct err *err)
{
	char absent_text[CPUS_TEXT_MAX], online_text[CPUS_TEXT_MAX];
	cpu_set_t absent = policy->reserved, online;

	cpu_topology_all(topology, &online);
	cpus_minus(&absent, &online);
	if (CPU_COUNT(&absent) == 0)
		return 0;
	return err_set(err, -EINVAL,
		       "reservedSystemCPUs: %.200s is not online on this host; choose from %.400s",
		       cpus_format(&absent, absent_text), cpus_format(&online, online_text));
}

int cpu_reserve_count(const struct cpu_topology *topology, unsigned n, cpu_set_t *ret,
		      struct err *err)
{
	cpu_set_t all;

	if (n > topology->n)
		return err_set(err, -ERANGE,
			       "%u CPUs to reserve, but this host has %u: reserve fewer", n,
			       topology->n);
	cpu_topology_all(topology, &all);
	return cpu_take(topology, &all, n, ret);
}
