// SPDX-License-Identifier: Apache-2.0
/* What only the open image can tell: cache and io mode where the plan leaves them open. */
#pragma once

#include "launcher/argv.h"

/*
 * Fill in CACHE_DEFAULT and IO_DEFAULT as KubeVirt does (pkg/virt-launcher/virtwrap/converter): cache none where O_DIRECT works,
 * else writethrough; io native with cache none on a block device or a fully allocated file. Sets
 * fds->preallocated. -EINVAL when a descriptor's access mode is not the plan's, or O_DIRECT was asked
 * for (cache none, shareable) and does not work.
 */
int disks_resolve(struct plan *p, struct argv_fds *fds, struct err *err);
