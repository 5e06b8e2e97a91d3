// SPDX-License-Identifier: Apache-2.0
/*
 * What a disk image's header claims, read before QEMU sees the image. The guest may have written
 * it: the parser is pure over bytes, and nothing it names is ever opened. And the making of an empty
 * image. Layout: QEMU's docs/interop/qcow2.txt.
 */
#pragma once

#include "lib/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QCOW2_HEADER_BYTES 104 /* of version 3, enough for version 2 */

/* Do these first bytes of a file say qcow2? */
bool qcow2_magic(const void *data, size_t len);

/*
 * Refuses (-EINVAL) a header that names a backing or data file, is encrypted, of an unknown version
 * or nonsense. *ret_size: the virtual disk's bytes.
 */
int qcow2_check(const void *data, size_t len, uint64_t *ret_size, struct err *err);

/*
 * Make the empty file behind fd an image of `size` bytes, rounded up to sectors, that holds nothing yet:
 * 256 KiB and more with its size, all but 3 pages of them holes. -EFBIG beyond QEMU's own limit.
 */
int qcow2_create(int fd, uint64_t size, struct err *err);
