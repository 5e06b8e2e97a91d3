// SPDX-License-Identifier: Apache-2.0
#include "launcher/tail.h"

#include <stdio.h>
#include <string.h>

void tail_add(struct tail *t, const char *data, size_t len)
{
	size_t keep;

	if (len > TAIL_SIZE) {
		data += len - TAIL_SIZE;
		len = TAIL_SIZE;
	}
	keep = t->len < TAIL_SIZE - len ? t->len : TAIL_SIZE - len;
	memmove(t->buf, t->buf + t->len - keep, keep);
	memcpy(t->buf + keep, data, len);
	t->len = keep + len;
}

void tail_text(const struct tail *t, char *ret, size_t size)
{
	char line[2 * TAIL_SIZE + 1];
	size_t n = 0, skip;

	for (size_t i = 0; i < t->len; i++) {
		unsigned char c = (unsigned char)t->buf[i];

		if (c == '\n') {
			if (n && i + 1 < t->len) {
				line[n++] = ';';
				line[n++] = ' ';
			}
		} else {
			line[n++] = c < 0x20 || c >= 0x7f ? '?' : (char)c;
		}
	}
	line[n] = 0;
	skip = n >= size ? n - size + 1 : 0;
	(void)snprintf(ret, size, "%s", line + skip);
}
