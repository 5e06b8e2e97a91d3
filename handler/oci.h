// SPDX-License-Identifier: Apache-2.0
/*
 * Files of OCI image layouts (image-layout, image-manifest and layer specifications 1.0), as skopeo
 * and podman write them. Layers are read as streams, nothing is unpacked.
 */
#pragma once

#include "lib/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Does this folder (a directory fd) hold a layout? */
bool oci_is_layout(int dirfd);

/*
 * Write the regular file `path` (absolute, inside the image) of the layout's image for this machine to
 * `to`: from the uppermost layer that has it. -ENOENT: no layer has it, or an upper one took it away;
 * -EFBIG: more than `max` bytes; -EBADMSG: the layout is not what the specification says.
 */
int oci_extract(int dirfd, const char *path, int to, uint64_t max, struct err *err);
