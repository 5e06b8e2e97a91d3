// SPDX-License-Identifier: Apache-2.0
/*
 * Exclusive CPUs for one VM: a pure function of the host, the policy, who holds what, and the
 * request. It picks the CPUs that the kubelet would pick and lays the VM's threads on them as
 * KubeVirt does, with two promises that those don't make: guest SMT siblings are host SMT siblings,
 * and full-pcpus-only never hands out part of a core.
 */
#pragma once

#include "cpu/policy.h"

#define CPU_MAX_VCPUS 512 /* KubeVirt's limit on maxSockets, too */
#define CPU_MAX_IO    512

struct cpu_request {
	unsigned sockets, cores, threads; /* the guest's, each at least 1 */
	bool isolate_emulator;
	unsigned supplemental_io; /* IO threads that get CPUs of their own */
};

/* A row of the ledger. The name ("namespace/vm") is borrowed and shown in refusals. */
struct cpu_holder {
	const char *name;
	cpu_set_t cpus;
};

struct cpu_assignment {
	unsigned n_vcpus;
	int vcpu[CPU_MAX_VCPUS]; /* host CPU of guest vCPU i */
	unsigned n_io;
	int io[CPU_MAX_IO]; /* host CPU of supplemental IO thread i */
	cpu_set_t emulator; /* empty without isolate_emulator: the shared pool serves */
	cpu_set_t all;
};

/*
 * Deterministic; *ret is disjoint from every holder and from the reserved CPUs.
 * -EBUSY: fits once others let go. -ENOTSUP: can't ever fit this host, or the policy forbids it.
 * -EINVAL: a request of nothing. The error says what was wanted, what is free, reserved and held by
 * whom, and the cure.
 */
int cpu_allocate(const struct cpu_topology *topology, const struct cpu_policy *policy,
		 const struct cpu_holder *holders, unsigned n_holders,
		 const struct cpu_request *request, struct cpu_assignment *ret, struct err *err);

/* All online CPUs that nobody holds exclusively, the reserved ones included. */
void cpu_shared_pool(const struct cpu_topology *topology, const struct cpu_holder *holders,
		     unsigned n_holders, cpu_set_t *ret);
