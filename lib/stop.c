// SPDX-License-Identifier: Apache-2.0
#include "lib/stop.h"

#ifdef VIRTPOD_STOPS

#include "lib/log.h"
#include "lib/util.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "VIRTPOD_STOP="

char *stop_environment(void)
{
	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, VARIABLE, strlen(VARIABLE)))
			return *e;
	return NULL;
}

/* SIGSTOP would do nothing to the launcher, which is process 1 of its namespace. */
static void stand_still(const char *name)
{
	sigset_t cont, before;

	(void)sigemptyset(&cont);
	(void)sigaddset(&cont, SIGCONT);
	(void)sigprocmask(SIG_BLOCK, &cont, &before);
	log_info("stopped at '%s'", name);
	(void)sigwaitinfo(&cont, NULL);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	log_info("goes on after '%s'", name);
}

void stop_at(const char *fmt, ...)
{
	static bool stopped;
	const char *wanted = stop_environment();
	char name[64];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(name, sizeof name, fmt, ap); /* our own names: they fit */
	va_end(ap);
	if (stopped || !wanted || !str_eq(wanted + strlen(VARIABLE), name))
		return;
	stopped = true;
	stand_still(name);
}

#endif
