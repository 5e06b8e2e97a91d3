// SPDX-License-Identifier: Apache-2.0
/*
 * Steps qemu, pin and run: QEMU started paused, its threads found and placed, and only then the guest
 * let go. The launcher names thread ids of its own pid namespace; which host threads these are, and
 * that they are the pod's, is looked up here: its word alone moves nothing.
 */
#include "handler/steps.h"

#include "handler/cpuset.h"
#include "handler/kthreads.h"
#include "handler/launcher.h"
#include "handler/pins.h"
#include "handler/podevents.h"
#include "handler/realtime.h"
#include "handler/threads.h"

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
	if (r == 0)
		r = add_file(pod, "qemu.log", "qemuLog", err);
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
				  threads_find, err);
	/* they are the launcher's now; ours would keep locks and taps alive beyond it */
	(void)undo_disks(pod, NULL);
	return r;
}

int step_pin(struct pod *pod, struct err *err)
{
	cpu_set_t shared;
	int r;

	pod_event(pod, "Created", "VirtualMachineInstance defined.");
	r = pins_set(pod, err);
	if (r == 0)
		r = pins_verify(pod, err);
	if (r == 0)
		r = realtime_set(pod, err);
	if (r == 0 && pod->plan->accel == ACCEL_KVM)
		r = cpuset_shared(pod->h, &shared, err);
	if (r == 0 && pod->plan->accel == ACCEL_KVM)
		kthreads_confine(&shared);
	return r;
}

int step_run(struct pod *pod, struct err *err)
{
	return launcher_step_request(pod, "continue", NULL, NULL, 0, CONTINUE_TIMEOUT, NULL, err);
}
