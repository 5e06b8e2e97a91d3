// SPDX-License-Identifier: Apache-2.0
/* Small text helpers of the test guest. */
#include "tests/guest/guest.h"

#include "lib/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int num_parse(const char *text, const char *what, long min, long max, long *ret, struct err *err)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || end == text || *end || n < min || n > max)
		return err_set(err, -EINVAL, "%s '%s' is not a number from %ld to %ld", what, text,
			       min, max);
	*ret = n;
	return 0;
}

int words_split(char *line, char **ret_words, int max)
{
	int n = 0;

	for (;;) {
		line += strspn(line, " \t");
		if (!*line)
			return n;
		ret_words[n++] = line;
		if (n == max)
			return n;
		line += strcspn(line, " \t");
		if (*line)
			*line++ = 0;
	}
}

const char *line_read(char *buf, size_t size, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(path, sizeof path, fmt, ap); /* a cut path is a file that isn't there */
	va_end(ap);
	if (file_read_line_at(AT_FDCWD, path, buf, size) < 0)
		buf[0] = 0;
	return buf;
}
