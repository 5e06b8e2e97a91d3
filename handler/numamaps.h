// SPDX-License-Identifier: Apache-2.0
/* /proc/PID/numa_maps of a QEMU: which nodes guest memory really is on. Pure. */
#pragma once

#include "api/plan.h"

#include <jansson.h>

/*
 * Is there anything to be read, at a price that a caller may wait for? The kernel walks every page:
 * ordinary ones cost 25 ms a GiB (measured), huge ones nothing.
 */
bool numamaps_wanted(const struct plan *plan);

/*
 * Guest memory is what lies in huge pages or was bound to nodes: QEMU does neither with anything else.
 * [{"policy": "bind:1", "pageBytes": 2097152, "nodes": {"1": bytes}}], one for each policy and page size
 * in the order of their first appearance; the caller's. Counted are pages that are there.
 */
json_t *numamaps_guest(const char *text);
