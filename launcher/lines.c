// SPDX-License-Identifier: Apache-2.0
#include "launcher/lines.h"

#include "lib/util.h"

#include <errno.h>
#include <string.h>

void lines_done(struct lines *l)
{
	free(l->buf);
	*l = (struct lines){.max = l->max};
}

static int append(struct lines *l, const char *data, size_t len)
{
	if (len > l->max - l->len)
		return -EMSGSIZE;
	if (l->len + len + 1 > l->size) {
		size_t size = l->size ? l->size : 1024;

		while (size < l->len + len + 1)
			size *= 2;
		l->buf = xrealloc(l->buf, size, 1);
		l->size = size;
	}
	memcpy(l->buf + l->len, data, len);
	l->len += len;
	l->buf[l->len] = 0;
	return 0;
}

int lines_feed(struct lines *l, const char *data, size_t len,
	       int (*fn)(void *arg, char *line, size_t len), void *arg)
{
	while (len > 0) {
		const char *nl = memchr(data, '\n', len);
		size_t part = nl ? (size_t)(nl - data) : len;
		int r = append(l, data, part);

		if (r < 0)
			return r;
		if (!nl)
			return 0;
		data += part + 1;
		len -= part + 1;
		if (l->len > 0 && l->buf[l->len - 1] == '\r')
			l->buf[--l->len] = 0;
		r = l->len ? fn(arg, l->buf, l->len) : 0;
		l->len = 0;
		if (r < 0)
			return r;
	}
	return 0;
}
