// SPDX-License-Identifier: Apache-2.0
/* What a pod's cgroup allows, by its plan: said here once for who sets it and who compares it. Pure. */
#pragma once

#include "api/plan.h"
#include "cgroups/cgroup.h"

#define PODLIMITS_DEVICES_MAX 8

/* Devices that the pod may open by itself; returns how many. */
unsigned podlimits_devices(const struct plan *plan,
			   struct cgroup_device ret[PODLIMITS_DEVICES_MAX]);

uint64_t podlimits_pids(const struct plan *plan);
