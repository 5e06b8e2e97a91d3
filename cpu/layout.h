// SPDX-License-Identifier: Apache-2.0
/* Which thread of the VM gets which of the VM's CPUs. */
#pragma once

#include "cpu/demand.h"

/*
 * `cpus` has demand->total CPUs. vCPUs are filled node by node, core by core, in groups of the
 * guest's threads per core, each group inside one host core; IO threads and the emulator follow.
 * False if the CPUs hold fewer groups than the guest has cores.
 */
bool cpu_lay_out(const struct cpu_topology *topology, const cpu_set_t *cpus,
		 const struct cpu_demand *demand, struct cpu_assignment *ret);
