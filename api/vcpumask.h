// SPDX-License-Identifier: Apache-2.0
/* spec.domain.cpu.realtime.mask: which vCPUs. Pure. */
#pragma once

#include <sched.h>

#include "lib/err.h"

/*
 * "0-3,^1": numbers and ranges, a "^" takes one out wherever it stands, as KubeVirt reads it. NULL and
 * "" are all of the n vCPUs. -EINVAL: not such a list, a vCPU that the VM doesn't have, or none left.
 */
int vcpumask_parse(const char *mask, unsigned n, cpu_set_t *ret, struct err *err);
