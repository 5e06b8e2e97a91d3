// SPDX-License-Identifier: Apache-2.0
/* Measured values and what is said of them: median, least, most. Pure. */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct samples {
	int64_t *v; /* owned; all zero at first */
	size_t n;
};

struct summary {
	int64_t median, min, max; /* of an even number the mean of the middle two, rounded down */
	size_t n;
};

void samples_add(struct samples *s, int64_t value);
void samples_done(struct samples *s);

/* All zero for none. */
struct summary samples_summary(const struct samples *s);

/* {"median", "min", "max", "n"}; null for none. The caller's. */
json_t *samples_json(const struct samples *s);
