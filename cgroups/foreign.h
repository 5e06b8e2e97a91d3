// SPDX-License-Identifier: Apache-2.0
/* Other roots' groups, read only. Internal to cgroups/. */
#pragma once

#include "cgroups/cgroup.h"
#include "cgroups/tree.h"

/* As cgroup_find_foreign. */
int foreign_find(const struct tree *t, const cpu_set_t *cpus, struct foreign_task *ret,
		 struct err *err);
