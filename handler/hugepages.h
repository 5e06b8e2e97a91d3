// SPDX-License-Identifier: Apache-2.0
/* Are there enough huge pages, on the nodes where a VM's memory is to be? */
#pragma once

#include "handler/pod.h"

/* Another VM with huge pages. */
struct hugepages_claim {
	const char *name; /* "namespace/vm", borrowed */
	const struct plan *plan;
	bool taken; /* its QEMU has its pages: the kernel counts them as used */
};

/*
 * What the plan wants of each node (without cells: of the host) against what is free there, less what
 * VMs that are starting will take. -EBUSY: others must let go, or the pool must grow; the error has the
 * arithmetic, the holders and the command. -ENOTSUP: the kernel has no such pages.
 */
int hugepages_admit(int root, const struct plan *plan, const struct hugepages_claim *claims,
		    unsigned n_claims, struct err *err);

/* The same for a pod that is starting, against all other pods of the handler. */
int hugepages_check(int root, const struct pod *pod, struct err *err);
