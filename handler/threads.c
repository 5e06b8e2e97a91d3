// SPDX-License-Identifier: Apache-2.0
#include "handler/threads.h"

#include "handler/launcher.h"
#include "handler/proc.h"

#include "lib/json.h"

#include <errno.h>
#include <limits.h>

static int check_member(struct pod *pod, pid_t tid, struct err *err)
{
	bool member = false;
	int r = cgroup_pod_has_task(pod->h->cgroups, pod->record.uid, tid, &member, err);

	if (r == 0 && !member)
		return err_set(err, -EPERM, "launcher names thread %d, which is not the pod's",
			       tid);
	return r;
}

/* A number of the launcher's pid namespace; 0, which no thread has, for anything that is none. */
static pid_t inner_number(const json_t *value)
{
	json_int_t n = json_integer_value(value);

	return n > 0 && n <= INT_MAX ? (pid_t)n : 0;
}

pid_t threads_host(const struct pod *pod, const json_t *inner)
{
	pid_t tid;

	return proc_thread_by_inner(pod->qemu_pid, inner_number(inner), &tid) < 0 ? 0 : tid;
}

static int check_new(const struct pod *pod, size_t i, struct err *err)
{
	if (pod->vcpu_tids[i] == pod->qemu_pid)
		return err_set(err, -EBADMSG, "launcher names QEMU's main thread as vCPU %zu", i);
	for (size_t j = 0; j < i; j++)
		if (pod->vcpu_tids[j] == pod->vcpu_tids[i])
			return err_set(err, -EBADMSG,
				       "launcher names one thread as vCPU %zu and %zu", j, i);
	return 0;
}

int threads_find(struct pod *pod, const json_t *reply, struct err *err)
{
	const json_t *vcpus = json_object_get(reply, "vcpus"), *tid;
	pid_t inner = inner_number(json_object_get(reply, "qemuPid"));
	size_t i;
	int r;

	r = proc_child_by_inner((pid_t)pod->record.pid, inner, &pod->qemu_pid);
	if (r < 0)
		return err_errno(err, r, "launcher names QEMU %d, which is not its child", inner);
	if (json_array_size(vcpus) != plan_vcpus(pod->plan))
		return err_set(err, -EBADMSG, "QEMU has %zu vCPU threads, the VM has %u vCPUs",
			       json_array_size(vcpus), plan_vcpus(pod->plan));
	r = check_member(pod, pod->qemu_pid, err);
	json_array_foreach (vcpus, i, tid) {
		if (r < 0)
			return r;
		r = proc_thread_by_inner(pod->qemu_pid, inner_number(tid), &pod->vcpu_tids[i]);
		if (r < 0)
			return err_errno(err, r, "launcher names vCPU thread %lld",
					 (long long)json_integer_value(tid));
		r = check_member(pod, pod->vcpu_tids[i], err);
		if (r == 0)
			r = check_new(pod, i, err);
	}
	return r < 0 ? r : launcher_watch_qemu(pod, err);
}
