// SPDX-License-Identifier: Apache-2.0
/* Which thread runs where: set, then read back from the kernel thread by thread. */
#pragma once

#include "handler/pod.h"

/* Each vCPU thread into the vCPU group and onto its one CPU; nothing for a VM without dedicated CPUs. */
int pins_set(struct pod *pod, struct err *err);

/*
 * Every thread of QEMU and of PID 1 as the kernel reports it now: a vCPU thread's mask is exactly its
 * CPU, all others' have none of the dedicated vCPU CPUs. The first difference is the error.
 */
int pins_verify(struct pod *pod, struct err *err);

/*
 * Verify, and set what differs again: vCPU threads as pins_set does, others that may run on the
 * vCPUs' CPUs back into the emulator's group. A difference is logged as drift. Nothing before QEMU's threads
 * are known. Any write of a cpuset may call for it: Linux 6.1 then gives threads the whole set.
 */
int pins_repair(struct pod *pod, struct err *err);
