// SPDX-License-Identifier: Apache-2.0
#include "handler/rlimits.h"

#include "api/limits.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

static int refuse(const struct rlimit *has, struct err *err)
{
	return err_set(
		err, -ENOTSUP,
		"cpu.realtime: wanted no limit of locked memory for the pod, virt-handler has "
		"%llu KiB and may not raise it (CAP_SYS_RESOURCE): start virt-handler with "
		"LimitMEMLOCK=infinity, or after ulimit -l unlimited",
		(unsigned long long)has->rlim_max / 1024);
}

int rlimits_check(const struct plan *plan, struct err *err)
{
	struct rlimit has, more;

	if (!plan->realtime_vcpus)
		return 0;
	if (getrlimit(RLIMIT_MEMLOCK, &has) < 0)
		return err_errno(err, -errno, "limit of locked memory");
	more = (struct rlimit){has.rlim_cur, RLIM_INFINITY};
	if (setrlimit(RLIMIT_MEMLOCK, &more) < 0)
		return refuse(&has, err);
	(void)setrlimit(RLIMIT_MEMLOCK, &has); /* down is always allowed */
	return 0;
}

static int raise_memlock(pid_t pid, struct err *err)
{
	struct rlimit has = {0};

	if (prlimit(pid, RLIMIT_MEMLOCK, &unlimited, &has) < 0)
		return errno == EPERM ? refuse(&has, err)
				      : err_errno(err, -errno, "limit of locked memory of %d", pid);
	if (prlimit(pid, RLIMIT_MEMLOCK, NULL, &has) < 0 || has.rlim_max != RLIM_INFINITY)
		return err_set(err, -EIO, "limit of locked memory of %d: set, and not there", pid);
	return 0;
}

/* A VM with few disks and queues needs far fewer: what can't be raised is found when it is needed. */
static void raise_nofile(pid_t pid)
{
	struct rlimit limit;

	if (prlimit(pid, RLIMIT_NOFILE, NULL, &limit) < 0 || limit.rlim_max >= LIMITS_NOFILE)
		return;
	limit.rlim_max = LIMITS_NOFILE;
	if (prlimit(pid, RLIMIT_NOFILE, &limit, NULL) < 0)
		log_debug("descriptors of %d: limit stays: %s, ignoring", pid, strerror(errno));
}

int rlimits_raise(const struct pod *pod, struct err *err)
{
	pid_t pid = (pid_t)pod->record.pid;

	raise_nofile(pid);
	return pod->plan->realtime_vcpus ? raise_memlock(pid, err) : 0;
}
