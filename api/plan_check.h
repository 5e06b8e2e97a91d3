// SPDX-License-Identifier: Apache-2.0
/* Between api/plan_json.c and plan_check.c only: cells as JSON, and what members say of each other. */
#pragma once

#include "api/plan.h"

#define PLAN_MAX_BYTES ((uint64_t)1 << 52) /* 4 PiB: sums of sizes stay far inside 64 bits */

json_t *plan_cells_to_json(const struct plan *p);
int plan_cells_from_json(const json_t *list, struct plan *p, bool exact, struct err *err);
void plan_cells_free(struct plan *p);

/* -EBADMSG when there are none, or more than arrays of PLAN_MAX_VCPUS hold. */
int plan_check_vcpus(const struct plan *p, struct err *err);

/* -EBADMSG when two members contradict each other; the former is part of it. */
int plan_check(const struct plan *p, struct err *err);
