// SPDX-License-Identifier: Apache-2.0
/* Token bucket for what a guest can trigger at will. Pure: the caller brings the clock. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rate {
	uint64_t every_us; /* one token per this many microseconds … */
	unsigned burst;	   /* … and at most so many saved up */
	unsigned tokens;
	uint64_t last_us;
	bool begun;
};

bool rate_take(struct rate *r, uint64_t now_us); /* false: over the limit */
