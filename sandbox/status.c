// SPDX-License-Identifier: Apache-2.0
#include "sandbox/status.h"

#include "lib/util.h"

#include <errno.h>
#include <string.h>

int status_field(const char *status, const char *key, char *ret, size_t size)
{
	for (const char *line = status; line; line = strchr(line, '\n')) {
		const char *p;
		size_t len;

		line += *line == '\n';
		p = str_after(line, key);
		if (!p || *p != ':')
			continue;
		p += 1 + strspn(p + 1, " \t");
		len = strcspn(p, "\n");
		while (len && (p[len - 1] == ' ' || p[len - 1] == '\t'))
			len--;
		if (len >= size)
			return -ENOSPC;
		memcpy(ret, p, len);
		ret[len] = 0;
		return 0;
	}
	return -ENOENT;
}
