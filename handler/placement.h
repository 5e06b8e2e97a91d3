// SPDX-License-Identifier: Apache-2.0
/*
 * Where a VM's memory goes, decided when its CPUs are known and before anything of it is made: the nodes
 * that the pod may use, the pieces of guest memory and the host nodes that each lies on.
 */
#pragma once

#include "handler/pod.h"

/*
 * Fill plan->memory_nodes and plan->cells (api/plan.h) from the CPUs. A VM without dedicated CPUs gets
 * neither, nor does one on a kernel that knows no NUMA nodes, unless the guest is to see them: -ENOTSUP.
 * Pure but for what it reads below `root`.
 */
int placement_make(int root, const struct cpu_topology *topology, const struct cpu_assignment *cpus,
		   struct plan *plan, struct err *err);

/*
 * The whole decision for a pod that is starting, pod->cpus set if it has dedicated ones: placement_make,
 * and whether this host can do now what is promised: huge pages, realtime scheduling, locked memory.
 */
int placement_decide(struct pod *pod, struct err *err);
