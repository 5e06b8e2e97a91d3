// SPDX-License-Identifier: Apache-2.0
#include "handler/threads.h"

#include "handler/proc.h"

#include "lib/json.h"

#include <errno.h>

static int check_member(struct pod *pod, pid_t tid, struct err *err)
{
	bool member = false;
	int r = cgroup_pod_has_task(pod->h->cgroups, pod->record.uid, tid, &member, err);

	if (r == 0 && !member)
		return err_set(err, -EPERM, "launcher names thread %d, which is not the pod's",
			       tid);
	return r;
}

int threads_find(struct pod *pod, const json_t *reply, struct err *err)
{
	const json_t *vcpus = json_object_get(reply, "vcpus"), *tid;
	pid_t inner = (pid_t)json_u64(reply, "qemuPid", 0);
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
		r = proc_thread_by_inner(pod->qemu_pid, (pid_t)json_integer_value(tid),
					 &pod->vcpu_tids[i]);
		if (r < 0)
			return err_errno(err, r, "launcher names vCPU thread %lld",
					 (long long)json_integer_value(tid));
		r = check_member(pod, pod->vcpu_tids[i], err);
	}
	return r;
}
