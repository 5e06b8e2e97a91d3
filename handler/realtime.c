// SPDX-License-Identifier: Apache-2.0
#include "handler/realtime.h"

#include "lib/cpus.h"
#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

int realtime_check(int root, const struct plan *plan, struct err *err)
{
	char text[32];
	int r;

	if (!plan->realtime_vcpus)
		return 0;
	r = file_read_line_at(root, "proc/sys/kernel/sched_rt_runtime_us", text, sizeof text);
	if (r < 0)
		return err_errno(err, r, "kernel.sched_rt_runtime_us");
	if (str_eq(text, "-1"))
		return 0;
	return err_set(
		err, -ENOTSUP,
		"cpu.realtime: kernel.sched_rt_runtime_us is %s, must be -1: the kernel would "
		"stop a realtime vCPU in each period; sysctl -w kernel.sched_rt_runtime_us=-1",
		text);
}

static int set_one(unsigned vcpu, pid_t tid, struct err *err)
{
	const struct sched_param param = {.sched_priority = REALTIME_PRIORITY};
	struct sched_param is = {0};
	int policy;

	if (sched_setscheduler(tid, SCHED_FIFO, &param) < 0)
		return err_errno(err, -errno, "SCHED_FIFO for vCPU %u (thread %d)", vcpu, tid);
	policy = sched_getscheduler(tid);
	if (policy < 0 || sched_getparam(tid, &is) < 0)
		return err_errno(err, -errno, "scheduling of vCPU %u (thread %d)", vcpu, tid);
	if (policy == SCHED_FIFO && is.sched_priority == REALTIME_PRIORITY)
		return 0;
	return err_set(
		err, -EIO,
		"vCPU %u (thread %d): scheduling policy %d, priority %d: must be SCHED_FIFO, %d",
		vcpu, tid, policy, is.sched_priority, REALTIME_PRIORITY);
}

int realtime_set(const struct pod *pod, struct err *err)
{
	const char *list = pod->plan->realtime_vcpus;
	cpu_set_t vcpus;
	int r = list ? cpus_parse(list, &vcpus) : 0;

	if (r < 0)
		return err_errno(err, r, "realtime vCPUs '%.60s'", list);
	for (int i = -1; list && r == 0 && (i = cpus_next(&vcpus, i)) >= 0;)
		r = set_one((unsigned)i, pod->vcpu_tids[i], err);
	return r;
}
