// SPDX-License-Identifier: Apache-2.0
#include "handler/podlimits.h"

#include "lib/util.h"

#include <string.h>

/*
 * Tap, vhost-net and disks come as open descriptors and need no entry: the controller looks only at
 * open and mknod. Numbers: the kernel's Documentation/admin-guide/devices.txt.
 */
static const struct cgroup_device base[] = {
	{'c', 1, 3, false, "rw"}, /* null */
	{'c', 1, 5, false, "rw"}, /* zero */
	{'c', 1, 7, false, "rw"}, /* full */
	{'c', 1, 8, false, "r"},  /* random */
	{'c', 1, 9, false, "r"},  /* urandom */
};
static const struct cgroup_device kvm = {'c', 10, 232, false, "rw"};

/* vCPU, IO and worker threads (QEMU's pool is 64 per AIO context), launcher and helpers beside. */
#define PIDS_BASE 256

unsigned podlimits_devices(const struct plan *plan, struct cgroup_device ret[PODLIMITS_DEVICES_MAX])
{
	unsigned n = ARRAY_SIZE(base);

	memcpy(ret, base, sizeof base);
	if (plan->accel == ACCEL_KVM)
		ret[n++] = kvm;
	return n;
}

uint64_t podlimits_pids(const struct plan *plan)
{
	return PIDS_BASE + plan_vcpus(plan);
}
