// SPDX-License-Identifier: Apache-2.0
#include "api/overhead.h"

#include "api/quantity.h"
#include "lib/json.h"

#define MIB ((uint64_t)1 << 20)

/* KubeVirt's numbers (pkg/hypervisor/kvm/hypervisorbackend.go). */
#define OVERHEAD_PROCESSES ((25 + 100 + 25 + 40 + 50) * MIB) /* monitor to QEMU itself */
#define OVERHEAD_VCPU	   (8 * MIB)
#define OVERHEAD_IOTHREAD  (8 * MIB)
#define OVERHEAD_GRAPHICS  (32 * MIB)
#define OVERHEAD_DEDICATED (100 * MIB) /* guaranteed pods are killed at their limit: spare room */
#define PAGE_TABLES	   512	       /* an 8-byte entry for each 4 KiB page */

/*
 * A QEMU that locks its memory has every stack whole in memory: 64 workers of 8 MiB and 256 coroutines of
 * 1 MiB is what its disks can make it start.
 */
#define LOCKED_STACKS ((64 * 8 + 256) * MIB)

#define TCG_MIN (32 * MIB)
#define TCG_MAX (256 * MIB)

static uint64_t bytes_at(const json_t *vmi, const char *path)
{
	const json_t *value = json_get(vmi, path);
	uint64_t ret = 0;

	if (!value || quantity_bytes(value, &ret, NULL) < 0)
		return 0;
	return ret;
}

static bool equal_and_there(const json_t *vmi, const char *a, const char *b)
{
	struct quantity x, y;
	const json_t *va = json_get(vmi, a), *vb = json_get(vmi, b);

	return va && vb && quantity_from_json(va, &x, NULL) == 0 &&
	       quantity_from_json(vb, &y, NULL) == 0 && quantity_sign(&x) > 0 &&
	       quantity_cmp(&x, &y) == 0;
}

/* Kubernetes' QoS class Guaranteed, asked for by name of dedicated CPUs or by equal resources. */
static bool guaranteed(const json_t *vmi)
{
	return json_flag(vmi, "spec.domain.cpu.dedicatedCpuPlacement", false) ||
	       (equal_and_there(vmi, "spec.domain.resources.requests.cpu",
				"spec.domain.resources.limits.cpu") &&
		equal_and_there(vmi, "spec.domain.resources.requests.memory",
				"spec.domain.resources.limits.memory"));
}

uint64_t memory_guest(const json_t *vmi)
{
	return bytes_at(vmi, "spec.domain.memory.guest");
}

uint64_t memory_hugepage(const json_t *vmi)
{
	return bytes_at(vmi, "spec.domain.memory.hugepages.pageSize");
}

uint64_t memory_overhead(const json_t *vmi)
{
	uint64_t vcpus = json_u64(vmi, "spec.domain.cpu.sockets", 1) *
			 json_u64(vmi, "spec.domain.cpu.cores", 1) *
			 json_u64(vmi, "spec.domain.cpu.threads", 1);
	uint64_t ret = OVERHEAD_PROCESSES + vcpus * OVERHEAD_VCPU + OVERHEAD_IOTHREAD;

	if (json_flag(vmi, "spec.domain.devices.autoattachGraphicsDevice", true))
		ret += OVERHEAD_GRAPHICS;
	if (guaranteed(vmi))
		ret += OVERHEAD_DEDICATED;
	return ret + memory_guest(vmi) / PAGE_TABLES;
}

uint64_t memory_locked(const json_t *vmi)
{
	return json_get(vmi, "spec.domain.cpu.realtime") &&
			       json_array_size(json_get(vmi, "spec.domain.devices.disks"))
		       ? LOCKED_STACKS
		       : 0;
}

uint64_t memory_tcg(uint64_t guest)
{
	uint64_t ret = guest / 4 / MIB * MIB; /* tb-size is in whole MiB */

	if (ret < TCG_MIN)
		return TCG_MIN;
	return ret < TCG_MAX ? ret : TCG_MAX;
}

uint64_t memory_limit(const json_t *vmi, uint64_t tcg)
{
	uint64_t guest = memory_guest(vmi);
	uint64_t limit = bytes_at(vmi, "spec.domain.resources.limits.memory");

	uint64_t beside = limit > guest ? limit - guest : 0;

	return (memory_hugepage(vmi) ? 0 : guest) + beside + memory_overhead(vmi) +
	       memory_locked(vmi) + tcg;
}
