// SPDX-License-Identifier: Apache-2.0
#include "handler/adopt.h"

#include "handler/channel.h"
#include "handler/cpuset.h"
#include "handler/exclusive.h"
#include "handler/hostcpus.h"
#include "handler/launcher.h"
#include "handler/leftovers.h"
#include "handler/pins.h"
#include "handler/poddir.h"
#include "handler/podevents.h"
#include "handler/podlog.h"
#include "handler/proc.h"
#include "handler/realtime.h"
#include "handler/status.h"
#include "handler/steps.h"
#include "handler/threads.h"
#include "handler/vmi.h"
#include "handler/wires.h"

#include "lib/json.h"
#include "lib/log.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define STATUS_TIMEOUT 10 /* seconds */
#define RETRY_USEC     (5 * 1000000ull)

static int ask_status(struct pod *pod, struct err *err);
static void keep_trying(struct pod *pod, const struct err *err);

/* The record as a pod again, with the object when it is still there. */
static struct pod *revive(struct handler *h, struct store_pod *record)
{
	_cleanup_json_ json_t *vmi = NULL, *status = NULL;
	struct err err = {0};
	struct pod *pod;

	if (store_get(h->store, VMI_KIND, record->ns, record->name, &vmi, &err) < 0 ||
	    !str_eq(json_str(vmi, "metadata.uid"), record->uid)) {
		json_decref(vmi); /* the object went: what is left of it is undone all the same */
		vmi = json_pack("{s:s, s:s, s:{s:s, s:s, s:s}}", "apiVersion", "kubevirt.io/v1",
				"kind", "VirtualMachineInstance", "metadata", "uid", record->uid,
				"namespace", record->ns, "name", record->name);
	}
	status = vmi_status(h, vmi);
	pod = pod_new(h, vmi, status);
	store_pod_done(&pod->record);
	pod->record = *record;
	*record = (struct store_pod){0};
	err_clear(&err);
	if (pod->record.plan && plan_from_json(pod->record.plan, &pod->plan, &err) < 0)
		log_error("%s/%s: plan: %s", pod->record.ns, pod->record.name, err.msg);
	if (pod->plan)
		pod->grace_seconds = pod->plan->grace_seconds;
	return pod;
}

/*
 * A guest that ran is not a start that failed: how it ended is in its outcome file, also when no handler
 * was there. A launcher that lives is killed, and its exit goes the usual way.
 */
static void give_up(struct pod *pod, const struct err *err)
{
	if (pod->state == POD_UNDOING)
		return;
	log_warning("%s/%s: not adopted: %s", pod->record.ns, pod->record.name, err->msg);
	if (pod->state == POD_STARTING) {
		pod->failure = *err;
		pod_event_warning(pod, "SyncFailed", err->msg);
	}
	if (pod->state != POD_STARTING && pod->exit_source) {
		launcher_kill(pod);
		return;
	}
	launcher_read_outcome(pod);
	pod_end(pod);
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct pod *pod = userdata;
	struct err err = {0};

	(void)source;
	(void)usec;
	pod->retry_timer = sd_event_source_disable_unref(pod->retry_timer);
	if (pod->state == POD_RUNNING && ask_status(pod, &err) < 0)
		keep_trying(pod, &err);
	return 0;
}

/* A launcher that lives and does not answer: its guest may be well, and is not ended for that. */
static void keep_trying(struct pod *pod, const struct err *err)
{
	const json_t *said = status_condition(pod->status, "Synchronized");

	channel_free(TAKE_PTR(pod->channel)); /* a late answer would be one that nobody asked for */
	if (!said) {
		log_warning("%s/%s: not adopted yet: %s; trying again", pod->record.ns,
			    pod->record.name, err->msg);
		status_set_condition(pod->status, "Synchronized", "False", "LauncherUnresponsive",
				     err->msg);
		pod_publish(pod);
	}
	if (sd_event_add_time_relative(pod->h->event, &pod->retry_timer, CLOCK_MONOTONIC,
				       RETRY_USEC,
				       /* accuracy= */ 0, on_retry, pod) < 0)
		log_error("%s/%s: no timer to try again: the next virt-handler will",
			  pod->record.ns, pod->record.name);
}

static void on_status(void *arg, int r, const json_t *reply, const struct err *why)
{
	struct pod *pod = arg;
	struct err err = {0};

	if (r == -ECANCELED)
		return;
	if (r == -ETIMEDOUT && pod->state == POD_RUNNING) {
		keep_trying(pod, why);
		return;
	}
	if (r < 0)
		err = *why;
	else
		r = threads_find(pod, reply, &err);
	if (r == 0)
		r = store_cpus_of(pod->h->store, pod->record.uid, &pod->cpus, &err);
	if (r < 0) {
		give_up(pod, &err);
		return;
	}
	/* what somebody did while no handler looked is repaired or told: no reason to end a guest */
	if (exclusive_watch(pod, &err) < 0 || realtime_set(pod, &err) < 0)
		log_error("%s/%s: %s", pod->record.ns, pod->record.name, err.msg);
	wires_watch(pod);
	log_info("%s/%s: adopted", pod->record.ns, pod->record.name);
	if (status_condition(pod->status, "Synchronized")) {
		status_remove_condition(pod->status, "Synchronized");
		pod_publish(pod);
	}
	handler_kick(pod->h);
}

static int ask_status(struct pod *pod, struct err *err)
{
	int fd, r;

	/* one whose queue of connections is full must not keep us waiting */
	r = sock_connect_at(pod->dir_fd, "launcher.sock", SOCK_SEQPACKET | SOCK_NONBLOCK, &fd);
	if (r < 0)
		return err_errno(err, r, "launcher.sock");
	r = launcher_set_channel(pod, fd, err);
	if (r < 0)
		return r;
	return channel_request(pod->channel, "status", NULL, NULL, 0, STATUS_TIMEOUT, on_status,
			       pod, err);
}

static int connect_launcher(struct pod *pod, struct err *err)
{
	int r = proc_pidfd((pid_t)pod->record.pid, pod->record.pid_start, &pod->pidfd);

	if (r < 0)
		return err_errno(err, r, "launcher %lld", (long long)pod->record.pid);
	r = launcher_watch_exit(pod, err);
	return r < 0 ? r : ask_status(pod, err);
}

/* Which CPUs its vCPUs have: the ledger says which, the kernel which thread has which. */
static void adopt_one(struct handler *h, struct store_pod *record)
{
	struct pod *pod = revive(h, record);
	struct err err = {0};
	int r = 0;

	if (pod->record.step < pod_step_index("run") || !pod->plan)
		r = err_set(&err, -ECANCELED, "its start was cut short at step '%s'",
			    pod_steps[pod->record.step].name);
	else if (!str_eq(json_str(pod->status, "phase"), "Running"))
		r = err_set(&err, -ECANCELED, "its guest had not been let go yet");
	if (r == 0) {
		pod->state = POD_RUNNING;
		r = poddir_open(h, pod->record.uid, &pod->dir_fd, &err);
	}
	if (r == 0)
		r = connect_launcher(pod, &err);
	if (r < 0)
		give_up(pod, &err);
}

/* Every record as a pod, given to fn. */
static int each_record(struct handler *h, void (*fn)(struct handler *h, struct store_pod *record),
		       struct err *err)
{
	struct store_pod *records = NULL;
	size_t n = 0;
	int r = store_pods(h->store, &records, &n, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		/* of another version: to undo what was never made does no harm */
		if (records[i].step < 0 || records[i].step >= pod_n_steps)
			records[i].step = pod_n_steps - 1;
		fn(h, &records[i]);
	}
	for (size_t i = 0; i < n; i++)
		store_pod_done(&records[i]);
	free(records);
	return 0;
}

int adopt_all(struct handler *h, struct err *err)
{
	struct err shared = {0};
	int r = each_record(h, adopt_one, err);

	if (r < 0)
		return r;
	(void)leftovers_remove(h); /* what resists was logged, and the next handler tries again */
	podlog_drop_orphans(h);
	if (cpuset_apply_shared(h, &shared) < 0)
		log_error("%s", shared.msg);
	return 0;
}

/* --- or end ---------------------------------------------------------------------------------- */

#define END_SECONDS 60 /* a process in the kernel's hands may never end */

/* As adoption does, but for talking to the launcher. */
static void revive_one(struct handler *h, struct store_pod *record)
{
	struct pod *pod = revive(h, record);
	struct err err = {0};

	if (str_eq(json_str(pod->status, "phase"), "Running"))
		pod->state = POD_RUNNING;
	if (pod->state != POD_RUNNING)
		return;
	if (poddir_open(h, pod->record.uid, &pod->dir_fd, &err) < 0)
		log_warning("%s, ignoring", err.msg);
	/* gone, or a zombie that nobody reaps: then there is no pidfd, which is what is asked below */
	if (proc_pidfd((pid_t)pod->record.pid, pod->record.pid_start, &pod->pidfd) == 0 &&
	    proc_has_ended(pod->pidfd))
		pod->pidfd = fd_close(pod->pidfd);
}

static int refuse_running(const struct handler *h, struct err *err)
{
	for (const struct pod *p = h->pods; p; p = p->next)
		if (p->pidfd >= 0)
			return err_set(err, -EBUSY,
				       "%s/%s runs (process %lld): shut it down with 'virtpod "
				       "delete vmi', or kill all that runs with --force",
				       p->record.ns, p->record.name, (long long)p->record.pid);
	return 0;
}

/* Groups with processes that no record knows: whose they are nobody can say, but they run. */
static int refuse_unknown(struct handler *h, struct err *err)
{
	char **uids = NULL;
	size_t n = 0;
	int r = cgroup_list(h->cgroups, &uids, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		bool empty = true;

		if (pod_find(h, uids[i]))
			continue;
		r = cgroup_pod_empty(h->cgroups, uids[i], &empty, err);
		if (r == 0 && !empty)
			r = err_set(err, -EBUSY,
				    "pod %s has processes, and no record says of which VM: --force "
				    "kills all that runs",
				    uids[i]);
	}
	cgroup_list_free(uids, n);
	return r;
}

static void end_one(struct pod *pod)
{
	struct err err = {0};

	if (pod->state == POD_STARTING)
		(void)err_set(&err, -ECANCELED, "its start was cut short at step '%s'",
			      pod_steps[pod->record.step].name);
	else if (pod->pidfd >= 0 && launcher_watch_exit(pod, &err) == 0)
		(void)err_set(&err, -ECANCELED, "killed by virtpod cleanup");
	else
		(void)err_set(&err, -ECANCELED, "it had ended");
	give_up(pod, &err);
}

static int on_end_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	bool *late = userdata;

	(void)source;
	(void)usec;
	*late = true;
	return 0;
}

static int wait_until_gone(struct handler *h, struct err *err)
{
	bool late = false;
	int r = sd_event_add_time_relative(h->event, NULL, CLOCK_MONOTONIC,
					   END_SECONDS * 1000000ull,
					   /* accuracy= */ 0, on_end_timer, &late);

	while (r >= 0 && h->pods && !late)
		r = sd_event_run(h->event, UINT64_MAX);
	if (r < 0)
		return err_errno(err, r, "event loop");
	if (h->pods)
		return err_set(err, -EIO,
			       "%s/%s can't be removed in %d s: what it said last is why",
			       h->pods->record.ns, h->pods->record.name, END_SECONDS);
	return 0;
}

int adopt_none(struct handler *h, bool force, struct err *err)
{
	struct pod *next;
	int r = each_record(h, revive_one, err), resist;

	if (r == 0 && !force)
		r = refuse_running(h, err);
	if (r == 0 && !force)
		r = refuse_unknown(h, err);
	if (r < 0)
		return r;
	for (struct pod *p = h->pods; p; p = next) {
		next = p->next; /* one of which nothing is left is freed at once */
		end_one(p);
	}
	r = wait_until_gone(h, err);
	if (r < 0)
		return r;
	resist = leftovers_remove(h);
	if (resist)
		return err_set(err, -EIO, "%d things can't be removed: see above", resist);
	r = hostcpus_free(h, /* uid= */ NULL, err);
	if (r < 0)
		return r;
	/* nobody is behind it any more */
	(void)unlinkat(h->paths.run_fd, "handler.sock", 0);
	log_info("%s: nothing of it is left in the kernel", h->paths.run);
	return 0;
}
