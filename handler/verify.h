// SPDX-License-Identifier: Apache-2.0
/*
 * What was promised to a VM, compared with what inspect_vmi read. Pure: everything that a check
 * needs is in these two, so that each can be tested with a report that lies in one place.
 */
#pragma once

#include "handler/linknames.h"

#include "api/plan.h"
#include "cpu/allocator.h"
#include "sandbox/binds.h"

#include <jansson.h>
#include <stddef.h>

struct verify_promise { /* pointers are borrowed */
	const struct plan *plan;
	uint32_t host_id;
	struct cpu_assignment cpus;	  /* the ledger's rows of this VM; without any: all empty */
	const struct cpu_holder *holders; /* everybody else's */
	unsigned n_holders;
	struct sandbox_bind binds[SANDBOX_MAX_BINDS]; /* paths of the host in the pod's root */
	size_t n_binds;
	struct link_names links[PLAN_MAX_NICS]; /* in the host, in the order of plan->nics */
};

/*
 * Differences as an array, empty when every promise is kept: {"what": the check's name, "wanted",
 * "found" (null: nothing), "text": one line, printable}. The caller's. `seen` may be anything: what is
 * missing in it is a difference.
 */
json_t *verify_differences(const struct verify_promise *promise, const json_t *seen);

/* The same of the wires of its interfaces and its namespace alone; of `seen` only "links" and "netnsPinned". */
json_t *verify_network(const struct verify_promise *promise, const json_t *seen);

/* Names of all checks, ending with NULL. */
const char *const *verify_checks(void);
