// SPDX-License-Identifier: Apache-2.0
/* A VirtualMachine's status as KubeVirt shapes it: printableStatus, created, ready, conditions. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <time.h>

/*
 * The status that follows `old` (NULL: the first). vmi: the VM's own, whole, or NULL. failure: why
 * none could be made, or NULL. The caller's.
 */
json_t *vmstatus_next(const json_t *vm, const json_t *old, const json_t *vmi, const char *failure);

/* Did this VMI end, and did it ever run? */
bool vmstatus_vmi_final(const json_t *vmi);
bool vmstatus_vmi_ran(const json_t *vmi);

/*
 * Back-off, in status.startFailure: a VMI that ended without ever running counts once; the next may be
 * made 10 s times the square of their number later, at most 300 s (KubeVirt's numbers, without its
 * random part: here is one node only). KubeVirt's retryAfterTimestamp is for who reads; what counts is
 * the host's uptime, which nobody can set.
 */
void vmstatus_count_failure(json_t *status, const char *vmi_uid, time_t now, time_t uptime);
void vmstatus_clear_failures(json_t *status);
time_t vmstatus_retry_at(const json_t *status); /* an uptime; 0: at once */
