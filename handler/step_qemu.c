// SPDX-License-Identifier: Apache-2.0
/*
 * Steps qemu, pin and run: QEMU started paused, its threads found and placed, and only then the guest
 * let go. The launcher names thread ids of its own pid namespace; which host threads these are, and
 * that they are the pod's, is looked up here: its word alone moves nothing.
 */
#include "handler/steps.h"

#include "handler/launcher.h"
#include "handler/pins.h"
#include "handler/proc.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>

/* QEMU's own start is 0.1 s; firmware and big preallocated memory take longer. */
#define START_TIMEOUT	 120
#define CONTINUE_TIMEOUT 30

static int check_member(struct pod *pod, pid_t tid, struct err *err)
{
	bool member = false;
	int r = cgroup_pod_has_task(pod->h->cgroups, pod->record.uid, tid, &member, err);

	if (r == 0 && !member)
		return err_set(err, -EPERM, "launcher names thread %d, which is not the pod's",
			       tid);
	return r;
}

static int find_threads(struct pod *pod, const json_t *reply, struct err *err)
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

static int add_file(struct pod *pod, const char *file, const char *name, struct err *err)
{
	int fd = openat(pod->dir_fd, file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return err_errno(err, -errno, "%s/pods/%s/%s", pod->h->paths.run, pod->record.uid,
				 file);
	pod_add_fd(pod, fd, "%s", name);
	return 0;
}

int step_qemu(struct pod *pod, struct err *err)
{
	int fds[SOCK_MAX_FDS], r = add_file(pod, "outcome", "outcome", err);
	json_t *fields, *names;

	if (r == 0 && pod->plan->serial_log)
		r = add_file(pod, "console.log", "consoleLog", err);
	if (r < 0)
		return r;
	assert(pod->n_fds <= SOCK_MAX_FDS); /* step plan has counted them */
	names = json_array();
	for (unsigned i = 0; i < pod->n_fds; i++) {
		fds[i] = pod->fds[i].fd;
		(void)json_array_append_new(names, json_string(pod->fds[i].name));
	}
	fields = json_pack("{s:O, s:s, s:o}", "plan", pod->record.plan, "qemu", pod->h->qemu, "fds",
			   names);
	r = launcher_step_request(pod, "start", fields, fds, pod->n_fds, START_TIMEOUT,
				  find_threads, err);
	/* they are the launcher's now; ours would keep locks and taps alive beyond it */
	(void)undo_disks(pod, NULL);
	return r;
}

int step_pin(struct pod *pod, struct err *err)
{
	int r = pins_set(pod, err);

	return r < 0 ? r : pins_verify(pod, err);
}

int step_run(struct pod *pod, struct err *err)
{
	return launcher_step_request(pod, "continue", NULL, NULL, 0, CONTINUE_TIMEOUT, NULL, err);
}
