// SPDX-License-Identifier: Apache-2.0
/*
 * Exclusive CPUs over all pods of this handler, and the shared pool that is left for everything
 * else: other pods' emulator threads, pods without dedicated CPUs, the handler itself.
 */
#pragma once

#include "handler/pod.h"

struct cpu_holders {
	struct cpu_holder *list;
	unsigned n;
};

/* The ledger's rows, "namespace/name" as name, and other roots' pods on this host. Free with done. */
int cpuset_holders(struct handler *h, struct cpu_holders *ret, struct err *err);
int cpuset_own_holders(struct handler *h, struct cpu_holders *ret,
		       struct err *err); /* the ledger's */
void cpuset_holders_done(struct cpu_holders *holders);

int cpuset_shared(struct handler *h, cpu_set_t *ret, struct err *err);

/*
 * Give every pod and the handler the shared pool as it is now. Called with a pod's CPUs in the ledger
 * before it starts (the pool shrinks first) and after they left it. Goes on after a pod that can't be
 * moved and returns the first one's error; that a pod has no cgroup is none.
 */
int cpuset_apply_shared(struct handler *h, struct err *err);
