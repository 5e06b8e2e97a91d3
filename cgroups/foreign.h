// SPDX-License-Identifier: Apache-2.0
/* Other roots' groups, read only. Internal to cgroups/. */
#pragma once

#include "cgroups/tree.h"

#include <sched.h>

/* As cgroup_foreign_cpus. */
int foreign_cpus(const struct tree *t, cpu_set_t *ret, struct err *err);
