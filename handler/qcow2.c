// SPDX-License-Identifier: Apache-2.0
#include "handler/qcow2.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define MAGIC		   0x514649fbu /* "QFI\xfb" */
#define INCOMPAT_DATA_FILE (1u << 2)
#define INCOMPAT_KNOWN	   0x1fu /* dirty, corrupt, data file, compression, extended L2 */

enum { /* byte offsets */
       OFF_MAGIC = 0,
       OFF_VERSION = 4,
       OFF_BACKING = 8,
       OFF_CLUSTER_BITS = 20,
       OFF_SIZE = 24,
       OFF_CRYPT = 32,
       OFF_INCOMPATIBLE = 72,
};

static uint32_t get32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return be32toh(v);
}

static uint64_t get64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return be64toh(v);
}

bool qcow2_magic(const void *data, size_t len)
{
	return len >= 4 && get32(data) == MAGIC;
}

int qcow2_check(const void *data, size_t len, uint64_t *ret_size, struct err *err)
{
	const unsigned char *p = data;
	uint32_t version, cluster_bits;
	uint64_t incompatible;

	if (len < QCOW2_HEADER_BYTES || !qcow2_magic(data, len))
		return err_set(err, -EINVAL, "no qcow2 header; a raw image must not end in .qcow2");
	version = get32(p + OFF_VERSION);
	if (version != 2 && version != 3)
		return err_set(err, -EINVAL, "qcow2 version %u, known are 2 and 3", version);
	if (get64(p + OFF_BACKING))
		return err_set(err, -EINVAL,
			       "the qcow2 header names a backing file, which is never followed; "
			       "flatten it: qemu-img convert -O qcow2 OLD NEW");
	if (get32(p + OFF_CRYPT))
		return err_set(err, -EINVAL,
			       "the qcow2 image is encrypted, which is not supported");
	incompatible = version == 3 ? get64(p + OFF_INCOMPATIBLE) : 0;
	if (incompatible & INCOMPAT_DATA_FILE)
		return err_set(err, -EINVAL,
			       "the qcow2 header names a data file, which is never followed; "
			       "convert it: qemu-img convert -O qcow2 OLD NEW");
	if (incompatible & ~(uint64_t)INCOMPAT_KNOWN)
		return err_set(err, -EINVAL, "the qcow2 header needs features unknown here (%#llx)",
			       (unsigned long long)incompatible);
	cluster_bits = get32(p + OFF_CLUSTER_BITS);
	if (cluster_bits < 9 || cluster_bits > 21)
		return err_set(err, -EINVAL, "the qcow2 header is damaged (cluster bits %u)",
			       cluster_bits);
	*ret_size = get64(p + OFF_SIZE);
	return 0;
}
