// SPDX-License-Identifier: Apache-2.0
/*
 * Step spawn: the pod's directory, its /dev, and virt-launcher as its PID 1, which then enters its
 * sandbox. Undo ends it (PID 1's death takes the whole pod's processes with it), waits for that, and
 * removes the directory.
 */
#include "handler/steps.h"

#include "handler/launcher.h"
#include "handler/poddir.h"
#include "handler/podevents.h"
#include "handler/podlog.h"
#include "handler/proc.h"
#include "handler/rlimits.h"
#include "handler/status.h"

#include "sandbox/dev.h"
#include "sandbox/layers.h"
#include "sandbox/spawn.h"

#include "lib/sock.h"
#include "lib/stop.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Building the root takes milliseconds; under load or in a nested machine, seconds. */
#define ENTER_TIMEOUT 30

static void fill_layers(const struct plan_isolation *from, struct sandbox_layers *ret)
{
	*ret = (struct sandbox_layers){
		.user = from->user,
		.pid = from->pid,
		.mount = from->mount,
		.net = from->net,
		.ipc = from->ipc,
		.uts = from->uts,
		.cgroup = from->cgroup,
		.capabilities = from->capabilities,
		.no_new_privs = from->no_new_privs,
		.dumpable_off = from->dumpable_off,
		.seccomp = from->seccomp == SECCOMP_ENFORCE ? SANDBOX_SECCOMP_ENFORCE
			   : from->seccomp == SECCOMP_AUDIT ? SANDBOX_SECCOMP_AUDIT
							    : SANDBOX_SECCOMP_OFF,
	};
}

static int join_groups(void *arg, struct err *err)
{
	const struct pod *pod = arg;

	return cgroup_pod_enter(pod->h->cgroups, pod->record.uid, /* born= */ true, err);
}

static int join_all_groups(void *arg, struct err *err)
{
	const struct pod *pod = arg;

	return cgroup_pod_enter(pod->h->cgroups, pod->record.uid, /* born= */ false, err);
}

/*
 * Before Linux 6.3 (and the fix in some older ones) a process that is born in a group of another cpuset
 * keeps its parent's memory nodes. A pod that has some of its own is entered, slower.
 */
static int open_birthplace(const struct pod *pod, int *ret, struct err *err)
{
	if (pod->plan->memory_nodes && cgroup_host_v2(pod->h->cgroups))
		return 0;
	return cgroup_pod_birthplace(pod->h->cgroups, pod->record.uid, ret, err);
}

static int spawn(struct pod *pod, const struct sandbox_layers *layers, int channel, int listener,
		 int log, struct err *err)
{
	char *const argv[] = {(char[]){"virt-launcher"}, NULL};
	const int fds[] = {channel, listener};
	_cleanup_fd_ int birthplace = -1;
	struct sandbox_spawn how = {
		.layers = *layers,
		.uid = pod->record.host_id,
		.gid = pod->record.host_id,
		.netns_fd = pod->netns_fd,
		.join_arg = pod,
		.exec_fd = pod->h->launcher_fd,
		.argv = argv,
		.fds = fds,
		.n_fds = ARRAY_SIZE(fds),
		.stderr_fd = log,
	};
	pid_t pid;
	int r = open_birthplace(pod, &birthplace, err);

	how.cgroup_fd = birthplace;
	how.join = birthplace < 0 ? join_all_groups : join_groups;
	if (r == 0)
		r = sandbox_spawn(&how, &pid, &pod->pidfd, err);
	if (r < 0)
		return r;
	stop_at("spawn-unrecorded");
	pod->record.pid = pid;
	pod->record.pid_start = proc_start(pid);
	return store_pod_put(pod->h->store, &pod->record, err);
}

static int make_dev(const struct pod *pod, int *ret, struct err *err)
{
	static const struct sandbox_node kvm = {.name = "kvm", .major = 10, .minor = 232};

	return sandbox_dev_create(pod->record.host_id, pod->record.host_id, &kvm,
				  pod->plan->accel == ACCEL_KVM ? 1 : 0, ret, err);
}

static int entered(struct pod *pod, const json_t *reply, struct err *err)
{
	(void)reply;
	(void)err;
	pod_set_phase(pod, "Scheduled");
	return 0;
}

static int ask_to_enter(struct pod *pod, const struct sandbox_layers *layers, int dev,
			struct err *err)
{
	/* a host name has at most 64 bytes, a VMI's name may have 253 */
	_cleanup_free_ char *hostname = xstrndup(pod->record.name, 63);
	json_t *fds = json_array();
	json_t *fields;

	if (layers->mount) /* without it the pod sees the host's /dev */
		(void)json_array_append_new(fds, json_string("dev"));
	fields = json_pack("{s:s, s:o, s:s, s:s, s:o}", "version", VIRTPOD_VERSION, "sandbox",
			   sandbox_layers_to_json(layers), "hostname", hostname, "qemu",
			   pod->h->qemu, "fds", fds);
	return launcher_step_request(pod, "enter", fields, &dev, json_array_size(fds),
				     ENTER_TIMEOUT, entered, err);
}

int step_spawn(struct pod *pod, struct err *err)
{
	_cleanup_fd_ int ours = -1, theirs = -1, listener = -1, log = -1, dev = -1;
	struct sandbox_layers layers;
	int pair[2], r;

	fill_layers(&pod->plan->isolation, &layers);
	r = poddir_create(pod->h, pod->record.uid, &pod->dir_fd, err);
	if (r == 0)
		r = make_dev(pod, &dev, err);
	if (r < 0)
		return r;
	r = sock_listen_at(pod->dir_fd, "launcher.sock", SOCK_SEQPACKET, &listener);
	if (r == 0)
		r = sock_pair(SOCK_SEQPACKET, pair);
	if (r < 0)
		return err_errno(err, r, "launcher's sockets");
	ours = pair[0];
	theirs = pair[1];
	r = podlog_create(pod, &log, err);
	if (r < 0)
		return r;
	status_set_condition(pod->status, "PodScheduled", "True", NULL, NULL);
	status_remove_condition(pod->status, "Synchronized");
	(void)json_object_set_new(pod->status, "nodeName", json_string(pod->h->node));
	pod_set_phase(pod, "Scheduling");
	pod_event_created(pod);
	r = spawn(pod, &layers, theirs, listener, log, err);
	if (r == 0)
		r = rlimits_raise(pod, err);
	if (r == 0)
		r = podlog_watch(pod, err);
	if (r == 0)
		r = launcher_watch_exit(pod, err);
	if (r == 0)
		r = launcher_set_channel(pod, TAKE_FD(ours), err);
	return r < 0 ? r : ask_to_enter(pod, &layers, dev, err);
}

int undo_spawn(struct pod *pod, struct err *err)
{
	int r;

	/* after kill -9 of an earlier handler: its launcher, if it still is the recorded one */
	if (pod->pidfd < 0 && pod->record.pid) {
		r = proc_pidfd((pid_t)pod->record.pid, pod->record.pid_start, &pod->pidfd);
		if (r < 0 && r != -ESRCH)
			return err_errno(err, r, "launcher %lld", (long long)pod->record.pid);
	}
	if (pod->pidfd >= 0) {
		launcher_kill(pod);
		if (pod->exit_source || launcher_watch_exit(pod, err) == 0)
			return STEP_WAIT; /* its exit calls again, then without a pidfd */
		pod->pidfd = fd_close(pod->pidfd);
	}
	/* an earlier handler's pod, whose directory nobody has opened here yet */
	if (pod->dir_fd < 0)
		(void)poddir_open(pod->h, pod->record.uid, &pod->dir_fd, NULL);
	podlog_keep(pod);
	pod->log_source = sd_event_source_disable_unref(pod->log_source);
	logfile_done(&pod->log);
	pod->dir_fd = fd_close(pod->dir_fd);
	return poddir_destroy(pod->h, pod->record.uid, err);
}
