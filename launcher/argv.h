// SPDX-License-Identifier: Apache-2.0
/*
 * The plan as QEMU's command line (QEMU 7.2, q35). Pure. The machine is the one that KubeVirt's
 * domain describes: virtio devices behind PCIe root ports in libvirt's order (so that the first NIC
 * is enp1s0), SATA on the chipset's AHCI, SMBIOS of KubeVirt's words, no device that was not asked
 * for. Every host resource is an open descriptor; no path of the host is in the result.
 */
#pragma once

#include "api/plan.h"
#include "lib/err.h"

#include <stdbool.h>

#define ARGV_MAX_FDS 128 /* tap and vhost descriptors of one NIC: what one frame carries */

struct argv_nic_fds {
	int tap[ARGV_MAX_FDS]; /* plan's `queues` of them */
	int vhost[ARGV_MAX_FDS];
	unsigned n_tap, n_vhost; /* n_vhost is 0 (no vhost-net) or n_tap */
};

/* Descriptor numbers as QEMU will have them; -1 = none. All borrowed. */
struct argv_fds {
	int qmp, serial, kernel, initrd;
	int disk[PLAN_MAX_DISKS];
	bool preallocated[PLAN_MAX_DISKS]; /* discard would punch holes into what was reserved */
	struct argv_nic_fds nic[PLAN_MAX_NICS];
};

/*
 * *ret is NULL-terminated, the caller's (args_free); ret[0] is `qemu`. With fds NULL each descriptor
 * shows as a name in capitals (for `virtpod render`), and vhost-net, a matter of the host, is left out.
 * -EINVAL for a plan that QEMU cannot carry out, and for descriptors that do not match the plan.
 */
int argv_build(const struct plan *p, const char *qemu, const struct argv_fds *fds, char ***ret,
	       struct err *err);
