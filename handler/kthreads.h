// SPDX-License-Identifier: Apache-2.0
/*
 * Kernel threads that work for a guest but are in no group of its pod. KVM's timer emulation
 * ("kvm-pit/N", N being QEMU's number in its own pid namespace, so pods can't be told apart by it)
 * starts in the root group with every CPU allowed. vhost's and KVM's other threads follow the thread
 * that made them into the emulator's group and its CPUs.
 */
#pragma once

#include "lib/err.h"

#include <sched.h>

/*
 * The numbers of all kernel threads but kthreadd, as the kernel lists them below the directory `root`
 * ("/", or a test's). *ret is the caller's. The error says what follows from it, and the cure.
 */
int kthreads_list(int root, char **ret, struct err *err);

/*
 * Confine them all, whoever's VM they serve: dedicated CPUs are nobody else's. Survivable, so logged;
 * that they can't be found at all is said once.
 */
void kthreads_confine(const cpu_set_t *shared);
