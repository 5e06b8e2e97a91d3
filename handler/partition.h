// SPDX-License-Identifier: Apache-2.0
/*
 * The cgroup v2 partition of a pod, watched for its whole life: anybody who writes a cpuset.cpus beside
 * it can make it invalid, and such a write succeeds.
 */
#pragma once

#include "handler/pod.h"

/* Also for a pod without a partition, which has nothing to watch; and for an adopted one. */
int partition_watch(struct pod *pod, struct err *err);

/*
 * The partition and all pins against what they should be, now; what differs is repaired and logged. For
 * every pod whose other threads have CPUs of their own, with a partition or without.
 */
void partition_check(struct pod *pod);

void partition_unwatch(struct pod *pod); /* idempotent */
