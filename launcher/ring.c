// SPDX-License-Identifier: Apache-2.0
#include "launcher/ring.h"

#include <assert.h>
#include <string.h>

void ring_write(struct ring *r, const char *data, size_t len)
{
	if (len > RING_SIZE) {
		data += len - RING_SIZE;
		r->end += len - RING_SIZE;
		len = RING_SIZE;
	}
	while (len > 0) {
		size_t at = r->end % RING_SIZE;
		size_t n = len < RING_SIZE - at ? len : RING_SIZE - at;

		memcpy(r->data + at, data, n);
		r->end += n;
		data += n;
		len -= n;
	}
}

uint64_t ring_start(const struct ring *r)
{
	return r->end > RING_SIZE ? r->end - RING_SIZE : 0;
}

size_t ring_peek(const struct ring *r, uint64_t pos, const char **ret)
{
	size_t at = pos % RING_SIZE;
	uint64_t left = r->end - pos;

	assert(pos >= ring_start(r) && pos <= r->end);
	*ret = r->data + at;
	return left < RING_SIZE - at ? (size_t)left : RING_SIZE - at;
}
