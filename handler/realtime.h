// SPDX-License-Identifier: Apache-2.0
/* SCHED_FIFO for the vCPU threads that cpu.realtime names. */
#pragma once

#include "handler/pod.h"

#define REALTIME_PRIORITY 1 /* KubeVirt's */

/*
 * May this host let a thread run for as long as it wants? KubeVirt's condition for a node: the kernel's
 * throttling of realtime threads is off (kernel.sched_rt_runtime_us is -1, read below `root`). Then
 * cpu.rt_runtime_us of the pod's v1 cpu group is not looked at by the kernel either. -ENOTSUP: no.
 */
int realtime_check(int root, const struct plan *plan, struct err *err);

/* Set and read back; before the guest runs. Nothing to do without cpu.realtime. */
int realtime_set(const struct pod *pod, struct err *err);
