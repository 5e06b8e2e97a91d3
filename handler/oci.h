// SPDX-License-Identifier: Apache-2.0
/*
 * Files of OCI image layouts (image-layout, image-manifest and layer specifications 1.0), as skopeo
 * and podman write them. Layers are read as streams, nothing is unpacked.
 */
#pragma once

#include "lib/err.h"

#include <jansson.h>
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

/*
 * One document of a layout. Pure. 1: a manifest, *ret, whose "layers" is a list (the caller's); 0: an index,
 * and *ret_next is the path of what it has for this machine (the caller's); -EINVAL: no JSON; -EBADMSG.
 */
int oci_parse(const char *text, size_t len, json_t **ret, char **ret_next, struct err *err);
