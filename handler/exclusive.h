// SPDX-License-Identifier: Apache-2.0
/*
 * A VM's CPUs stay its own for its whole life: its cgroup v2 partition, where it has one, and where
 * each thread may run. Anybody who writes a cpuset.cpus beside a partition can make it invalid, and
 * such a write succeeds; anybody with the rights can move a thread. What differs is repaired and
 * logged; what can't be repaired is condition virtpod.io/Exclusive, and looked at again every 10 s. A
 * VM is never ended for it, nor is another VM's start.
 */
#pragma once

#include "handler/pod.h"

/* Look, and be told when the partition changes. For a pod without dedicated CPUs: nothing. */
int exclusive_watch(struct pod *pod, struct err *err);
void exclusive_unwatch(struct pod *pod); /* idempotent */

/* Compare and repair now. Due after every change of a cpuset: Linux 6.1 gives threads all of it then. */
void exclusive_check(struct pod *pod);
