// SPDX-License-Identifier: Apache-2.0
/* Memory beside the guest's own. docs/memory.md says how limit, guest and overhead follow. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Bytes of guest memory of a defaulted and validated VMI. */
uint64_t memory_guest(const json_t *vmi);

/*
 * Bytes that a VM's processes need beside guest memory: KubeVirt's formula for what is built
 * (pkg/hypervisor/kvm), the page-table term taken from guest memory.
 */
uint64_t memory_overhead(const json_t *vmi);

/* Bytes on top of it for what realtime VMs have locked in memory; KubeVirt locks nothing. */
uint64_t memory_locked(const json_t *vmi);

/* Bytes for TCG's translation buffer (-accel tcg,tb-size): a quarter of the guest, 32..256 MiB. */
uint64_t memory_tcg(uint64_t guest);

/* Bytes of a page of guest memory; 0: the kernel's usual ones. */
uint64_t memory_hugepage(const json_t *vmi);

/*
 * The pod's limit: overhead and `tcg` on top of the guest's memory or limits.memory, the larger. Huge
 * pages come from a pool of their own and are not charged: then the guest's memory is not in it.
 */
uint64_t memory_limit(const json_t *vmi, uint64_t tcg);
