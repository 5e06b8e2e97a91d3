// SPDX-License-Identifier: Apache-2.0
/* Resource limits of a pod's processes above the handler's own: they are per process and inherited. */
#pragma once

#include "handler/pod.h"

/*
 * Can this handler give a pod of this plan the limits that it promises? Tried on the handler itself and
 * put back. -ENOTSUP: no, with what was wanted, what is there, and the cure.
 */
int rlimits_check(const struct plan *plan, struct err *err);

/*
 * Set them on the pod's first process, before it has started anything: locked memory without a limit for
 * realtime vCPUs (QEMU locks all of itself), and a hard limit of descriptors that is enough, where the
 * host lets it be raised.
 */
int rlimits_raise(const struct pod *pod, struct err *err);
