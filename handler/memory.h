// SPDX-License-Identifier: Apache-2.0
/* Is there memory for one more VM? As the kubelet admits pods: by what was promised, not by what is used. */
#pragma once

#include "handler/pod.h"

/*
 * Guest and overhead of this VM, on top of those of all pods of this root, against the host's memory.
 * -EBUSY: unschedulable, with wanted, free and the holders.
 */
int memory_check(const struct pod *pod, struct err *err);

/* The same on the NUMA nodes that the plan binds it to (their sizes read below `root`), if it does. */
int memory_check_nodes(int root, const struct pod *pod, struct err *err);
