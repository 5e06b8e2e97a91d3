// SPDX-License-Identifier: Apache-2.0
#include "lib/log.h"

#include "lib/util.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *log_ident = "virtpod";
static enum log_level log_max = LOG_LEVEL_INFO;
static bool log_journal, log_times;

void log_open(const char *ident, enum log_level max)
{
	log_ident = ident;
	log_max = max;
	log_journal = getenv("JOURNAL_STREAM") != NULL;
}

void log_with_times(void)
{
	struct stat st;

	log_times = fstat(STDERR_FILENO, &st) == 0 && S_ISREG(st.st_mode);
}

static int time_prefix(char *to, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	return gmtime_r(&now, &tm) ? (int)strftime(to, size, "%Y-%m-%dT%H:%M:%SZ ", &tm) : 0;
}

void log_write(enum log_level level, const char *fmt, ...)
{
	/* sd-daemon(3): the journal reads a syslog priority in angle brackets */
	static const char *const priority[] = {"<3>", "<4>", "<6>", "<7>"};
	int saved = errno;
	char line[2048];
	va_list ap;
	int n;

	if (level > log_max)
		return;
	n = log_times ? time_prefix(line, sizeof line) : 0;
	n += snprintf(line + n, sizeof line - (size_t)n,
		      "%s%s: ", log_journal ? priority[level] : "", log_ident);
	va_start(ap, fmt);
	(void)vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, ap);
	va_end(ap);
	/* a guest's or launcher's words may be in it: one event stays one line, no terminal codes */
	str_line(line, ' ');
	n = (int)strlen(line);
	line[n++] = '\n';
	/* one write, so that lines of several processes do not mix; there is nobody to tell if it fails */
	(void)!write(STDERR_FILENO, line, (size_t)n);
	errno = saved;
}
