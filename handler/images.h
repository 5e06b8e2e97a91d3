// SPDX-License-Identifier: Apache-2.0
/* Image references: folders below lib/images (plain ones or OCI layouts), looked at without leaving them. */
#pragma once

#include "handler/handler.h"

/*
 * A file of an image ("registry/name:tag", path inside, absolute) as a sealed memfd: read by the pod
 * through /proc/self/fd, changed by nobody. Symbolic links are resolved inside the image. -ENOENT
 * says where the image must be put. At most 1 GiB. The copy is kept for the next VM:
 * making one takes longer than all else that a start does here.
 */
int images_load(struct handler *h, const char *reference, const char *path, int *ret_memfd,
		struct err *err);

/* No VM is left: copies that none asks for within half a minute would only hold memory. */
void images_unused(struct handler *h);

void images_drop(struct handler *h);
