// SPDX-License-Identifier: Apache-2.0
#include "launcher/rate.h"

bool rate_take(struct rate *r, uint64_t now_us)
{
	uint64_t gained;

	if (!r->begun) {
		r->begun = true;
		r->tokens = r->burst;
		r->last_us = now_us;
	}
	gained = (now_us - r->last_us) / r->every_us;
	r->last_us += gained * r->every_us;
	r->tokens = gained >= r->burst - r->tokens ? r->burst : r->tokens + (unsigned)gained;
	if (r->tokens == 0)
		return false;
	r->tokens--;
	return true;
}
