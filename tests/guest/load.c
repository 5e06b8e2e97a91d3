// SPDX-License-Identifier: Apache-2.0
/* What strains the host: CPU time, memory, console output, a watchdog that nobody feeds. */
#include "lib/util.h"
#include "tests/guest/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/watchdog.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB		 (1024UL * 1024)
#define WATCHDOG_SECONDS 2 /* short: tests wait for it */

static void spin_on(int cpu, long seconds)
{
	struct timespec now, end;
	cpu_set_t set;

	(void)clock_gettime(CLOCK_MONOTONIC, &end); /* this clock always exists */
	end.tv_sec += seconds;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	(void)sched_setaffinity(0, sizeof set, &set); /* the load is spread anyway */
	do
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

int cmd_burn(int argc, char **argv, struct err *err)
{
	long seconds, count = sysconf(_SC_NPROCESSORS_ONLN);
	int r = num_parse(argv[0], "seconds", 1, 3600, &seconds, err);

	(void)argc; /* the table's signature */
	for (int cpu = 0; r >= 0 && cpu < count; cpu++) {
		pid_t pid = fork();

		if (pid < 0)
			r = err_errno(err, -errno, "fork");
		if (pid)
			continue;
		spin_on(cpu, seconds);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	return r;
}

/* Touches every page, so that the host has to give it, too. */
static int take(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return p == MAP_FAILED ? -errno : 0;
}

int cmd_alloc(int argc, char **argv, struct err *err)
{
	long mib, available = mem_kib("MemAvailable:") / 1024;
	int r = num_parse(argv[0], "MiB", 1, 1 << 20, &mib, err);

	(void)argc; /* the table's signature */
	if (r < 0)
		return r;
	/* PID 1 can't be killed: taking too much would panic, which is what `oom` is for */
	if (mib > available)
		return err_set(err, -ENOMEM, "%ld MiB wanted, %ld available", mib, available);
	r = take((size_t)mib * MIB);
	return r < 0 ? err_errno(err, r, "%ld MiB", mib) : 0;
}

int cmd_oom(int argc, char **argv, struct err *err)
{
	int r;

	(void)argc, (void)argv; /* the table's signature */
	do
		r = take(MIB);
	while (r >= 0);
	return err_errno(err, r, "the kernel refused before it ran out");
}

int cmd_flood(int argc, char **argv, struct err *err)
{
	long lines;
	int r = num_parse(argv[0], "lines", 1, 100000000, &lines, err);

	(void)argc; /* the table's signature */
	for (long i = 0; r >= 0 && i < lines; i++)
		printf("%08ld%.*s\n", i, 72,
		       "........................................................................");
	return r;
}

int cmd_watchdog(int argc, char **argv, struct err *err)
{
	int seconds = WATCHDOG_SECONDS;
	int fd = open("/dev/watchdog", O_WRONLY | O_CLOEXEC);

	(void)argc, (void)argv; /* the table's signature */
	if (fd < 0)
		return err_errno(err, -errno, "/dev/watchdog");
	/* stays open on purpose: closing it could stop the timer */
	if (ioctl(fd, WDIOC_SETTIMEOUT, &seconds) < 0)
		return err_errno(err, -errno, "timeout of the watchdog");
	printf("timeout=%d\n", seconds);
	return 0;
}
