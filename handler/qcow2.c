// SPDX-License-Identifier: Apache-2.0
#include "handler/qcow2.h"

#include "lib/util.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

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
       OFF_L1_ENTRIES = 36,
       OFF_L1_OFFSET = 40,
       OFF_REFCOUNTS_OFFSET = 48,
       OFF_REFCOUNTS_CLUSTERS = 56,
       OFF_INCOMPATIBLE = 72,
       OFF_REFCOUNT_ORDER = 96,
       OFF_HEADER_LENGTH = 100,
};

/* An image that we make: 64 KiB clusters; header, table of refcounts, refcounts, then the L1 table. */
#define CLUSTER_BITS   16
#define CLUSTER	       (1ull << CLUSTER_BITS)
#define L1_CLUSTER     3
#define REFCOUNT_ORDER 4			 /* 2^4 bits each */
#define L1_REACH       (CLUSTER * (CLUSTER / 8)) /* bytes of the disk that one L1 entry leads to */
#define L1_ENTRIES_MAX (32u * 1024 * 1024 / 8)	 /* QCOW_MAX_L1_SIZE of QEMU's block/qcow2.h */
#define SECTOR	       512

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

static void put32(unsigned char *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof v);
}

static void put64(unsigned char *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof v);
}

static int write_at(int fd, const void *data, size_t len, uint64_t offset)
{
	ssize_t n = pwrite(fd, data, len, (off_t)offset);

	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -ENOSPC;
}

/* Every cluster in use has refcount 1: the first ones, one after the other. */
static int write_refcounts(int fd, uint64_t clusters)
{
	_cleanup_free_ uint16_t *counts = xcalloc(clusters, sizeof *counts);
	unsigned char entry[8];
	int r;

	for (uint64_t i = 0; i < clusters; i++)
		counts[i] = htobe16(1);
	put64(entry, 2 * CLUSTER);
	r = write_at(fd, entry, sizeof entry, CLUSTER);
	return r < 0 ? r : write_at(fd, counts, clusters * sizeof *counts, 2 * CLUSTER);
}

int qcow2_create(int fd, uint64_t size, struct err *err)
{
	uint64_t sectors = size / SECTOR + !!(size % SECTOR);
	uint64_t l1 = size / L1_REACH + !!(size % L1_REACH);
	uint64_t clusters = L1_CLUSTER + (l1 * 8 + CLUSTER - 1) / CLUSTER;
	unsigned char h[QCOW2_HEADER_BYTES] = {0};
	int r;

	if (l1 > L1_ENTRIES_MAX)
		return err_set(err, -EFBIG, "%llu bytes are more than a qcow2 image can have",
			       (unsigned long long)size);
	put32(h + OFF_MAGIC, MAGIC);
	put32(h + OFF_VERSION, 3);
	put32(h + OFF_CLUSTER_BITS, CLUSTER_BITS);
	put64(h + OFF_SIZE, sectors * SECTOR);
	put32(h + OFF_L1_ENTRIES, (uint32_t)l1);
	put64(h + OFF_L1_OFFSET, L1_CLUSTER * CLUSTER);
	put64(h + OFF_REFCOUNTS_OFFSET, CLUSTER);
	put32(h + OFF_REFCOUNTS_CLUSTERS, 1);
	put32(h + OFF_REFCOUNT_ORDER, REFCOUNT_ORDER);
	put32(h + OFF_HEADER_LENGTH, QCOW2_HEADER_BYTES);
	r = ftruncate(fd, (off_t)(clusters * CLUSTER)) < 0 ? -errno : 0;
	if (r == 0)
		r = write_refcounts(fd, clusters);
	if (r == 0)
		r = write_at(fd, h, sizeof h, 0);
	return r < 0 ? err_errno(err, r, "make a qcow2 image") : 0;
}
