// SPDX-License-Identifier: Apache-2.0
/* The one line that says why a VM gets no CPUs: the arithmetic, the holders, the cure. */
#pragma once

#include "cpu/demand.h"

struct cpu_refusal {
	const struct cpu_topology *topology;
	const struct cpu_policy *policy;
	const struct cpu_holder *holders;
	unsigned n_holders;
	struct cpu_demand demand;
	cpu_set_t allocatable, free; /* neither holds reserved CPUs */
	enum cpu_verdict verdict;
	bool for_now; /* an empty host would do */
};

/* Fills err and returns -EBUSY if for_now, else -ENOTSUP. The text is shorter than 900 bytes. */
int cpu_refuse(const struct cpu_refusal *refusal, struct err *err);
