// SPDX-License-Identifier: Apache-2.0
/* Image references: folders below lib/images (plain ones or OCI layouts), looked at without leaving them. */
#pragma once

#include "handler/handler.h"

/*
 * A file of an image ("registry/name:tag", path inside, absolute) as a sealed memfd: read by the pod
 * through /proc/self/fd, changed by nobody. Symbolic links are resolved inside the image. -ENOENT
 * says where the image must be put. At most 1 GiB. The copy is kept for the next VM, until images_drop:
 * when no VM is left it would only hold memory.
 */
int images_load(struct handler *h, const char *reference, const char *path, int *ret_memfd,
		struct err *err);

void images_drop(struct handler *h);
