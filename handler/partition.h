// SPDX-License-Identifier: Apache-2.0
/*
 * The cgroup v2 partition of a pod, watched for its whole life: anybody who writes a cpuset.cpus beside
 * it can make it invalid, and such a write succeeds.
 */
#pragma once

#include "handler/pod.h"

/* Also for a pod without a partition, which has nothing to watch; and for an adopted one. */
int partition_watch(struct pod *pod, struct err *err);
void partition_unwatch(struct pod *pod); /* idempotent */
