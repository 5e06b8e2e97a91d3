// SPDX-License-Identifier: Apache-2.0
/* A VMI's status as KubeVirt shapes it (pkg/virt-handler/vm.go): phases, their times, conditions. Pure. */
#pragma once

#include "api/outcome.h"
#include "api/plan.h"
#include "lib/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

json_t *status_new(const json_t *vmi); /* phase Pending; the caller's */

void status_set_phase(json_t *status, const char *phase); /* also its transition time, and Ready */

/* Is the guest's end written in this phase? Succeeded or Failed. */
bool status_is_final(const json_t *status);

/* lastTransitionTime moves only when value changes. value: "True", "False". */
void status_set_condition(json_t *status, const char *type, const char *value, const char *reason,
			  const char *message);
void status_remove_condition(json_t *status, const char *type);
const json_t *status_condition(const json_t *status, const char *type); /* borrowed or NULL */

/* What a plan says of the VM: topology, memory, machine, interfaces. */
void status_set_plan(json_t *status, const struct plan *plan);

/*
 * "virtpod.io/startMicroseconds": each step in order, and "total"; "virtpod.io/startBegan": when the
 * first began, by CLOCK_MONOTONIC, so that who measures on this host can line them up.
 */
void status_set_timing(json_t *status, const json_t *timing, uint64_t began_us, uint64_t total_us);

/*
 * The end. A refused start leaves the phase Pending, with the condition that says why
 * (PodScheduled=False for CPUs, Synchronized=False otherwise); a failed one is Failed; otherwise the
 * guest's outcome decides.
 */
void status_set_end(json_t *status, const struct outcome *outcome, const struct err *failure,
		    bool refused, uint32_t grace_seconds);
