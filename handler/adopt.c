// SPDX-License-Identifier: Apache-2.0
#include "handler/adopt.h"

#include "handler/adopt_internal.h"
#include "handler/channel.h"
#include "handler/cpuset.h"
#include "handler/exclusive.h"
#include "handler/launcher.h"
#include "handler/leftovers.h"
#include "handler/poddir.h"
#include "handler/podevents.h"
#include "handler/podlog.h"
#include "handler/proc.h"
#include "handler/realtime.h"
#include "handler/status.h"
#include "handler/steps.h"
#include "handler/threads.h"
#include "handler/wires.h"

#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <time.h>

#define STATUS_TIMEOUT 10 /* seconds */
#define RETRY_USEC     (5 * 1000000ull)
#define LAUNCHER       "LauncherUnresponsive" /* the reason of a condition */

static int ask_status(struct pod *pod, struct err *err);
static void keep_trying(struct pod *pod, const char *reason, const struct err *err);

void adopt_give_up(struct pod *pod, const struct err *err)
{
	if (pod->state == POD_UNDOING)
		return;
	log_warning("%s/%s: not adopted: %s", pod->record.ns, pod->record.name, err->msg);
	if (pod->state == POD_STARTING) {
		pod->failure = *err;
		pod_event_warning(pod, "SyncFailed", err->msg);
	}
	if (pod->state != POD_STARTING && pod->exit_source) {
		launcher_kill_for(pod, OUTCOME_CRASHED, err->msg);
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
		keep_trying(pod, LAUNCHER, &err);
	return 0;
}

/* What does not answer now may do so later; the guest may be well, and is not ended for that. */
static void keep_trying(struct pod *pod, const char *reason, const struct err *err)
{
	const json_t *said = status_condition(pod->status, "Synchronized");

	channel_free(TAKE_PTR(pod->channel)); /* a late answer would be one that nobody asked for */
	if (!said) {
		log_warning("%s/%s: not adopted yet: %s; trying again", pod->record.ns,
			    pod->record.name, err->msg);
		status_set_condition(pod->status, "Synchronized", "False", reason, err->msg);
		pod_publish(pod);
	}
	if (sd_event_add_time_relative(pod->h->event, &pod->retry_timer, CLOCK_MONOTONIC,
				       RETRY_USEC,
				       /* accuracy= */ 0, on_retry, pod) < 0)
		log_error("%s/%s: no timer to try again: the next virt-handler will",
			  pod->record.ns, pod->record.name);
}

/* QMP's run state until the first "cont", and the launcher's before there is a QEMU. */
static bool never_ran(const json_t *reply)
{
	const char *status = json_str(reply, "status");

	return str_eq(status, "prelaunch") || str_eq(status, "starting") || str_eq(status, "none");
}

static int not_let_go(struct pod *pod, struct err *err)
{
	pod->state = POD_STARTING;
	return err_set(err, -ECANCELED, "its guest had not been let go yet");
}

/* What the last handler could not say: that the guest runs, or that it can be reached again. */
static void say_adopted(struct pod *pod)
{
	bool unsaid = !str_eq(json_str(pod->status, "phase"), "Running");

	if (!unsaid && !status_condition(pod->status, "Synchronized"))
		return;
	status_remove_condition(pod->status, "Synchronized");
	if (!unsaid) {
		pod_publish(pod);
		return;
	}
	(void)json_object_set_new(pod->status, "nodeName", json_string(pod->h->node));
	pod_set_phase(pod, "Running");
	pod_event(pod, "Started", "VirtualMachineInstance started.");
}

static void on_status(void *arg, int r, const json_t *reply, const struct err *why)
{
	struct pod *pod = arg;
	struct err err = {0};

	if (r == -ECANCELED)
		return;
	if (r == -ETIMEDOUT && pod->state == POD_RUNNING) {
		keep_trying(pod, LAUNCHER, why);
		return;
	}
	if (r < 0)
		err = *why;
	else if (never_ran(reply))
		r = not_let_go(pod, &err);
	else
		r = threads_find(pod, reply, &err);
	if (r < 0) {
		adopt_give_up(pod, &err);
		return;
	}
	if (store_cpus_of(pod->h->store, pod->record.uid, &pod->cpus, &err) < 0) {
		keep_trying(pod, "StoreUnreadable", &err); /* no fault of the guest's */
		return;
	}
	/* what somebody did while no handler looked is repaired or told: no reason to end a guest */
	if (exclusive_watch(pod, &err) < 0 || realtime_set(pod, &err) < 0)
		log_error("%s/%s: %s", pod->record.ns, pod->record.name, err.msg);
	wires_watch(pod);
	log_info("%s/%s: adopted", pod->record.ns, pod->record.name);
	say_adopted(pod);
	handler_kick(pod->h);
}

static int ask_status(struct pod *pod, struct err *err)
{
	int r = launcher_connect(pod, err);

	if (r < 0)
		return r;
	return channel_request(pod->channel, "status", NULL, NULL, 0, STATUS_TIMEOUT, on_status,
			       pod, err);
}

static int connect_launcher(struct pod *pod, struct err *err)
{
	struct err log = {0};
	int r = proc_pidfd((pid_t)pod->record.pid, pod->record.pid_start, &pod->pidfd);

	if (r < 0)
		return err_errno(err, r, "launcher %lld", (long long)pod->record.pid);
	r = launcher_watch_exit(pod, err);
	if (r == 0 && podlog_watch(pod, &log) < 0)
		log_warning("%s/%s: what its launcher says is not logged: %s", pod->record.ns,
			    pod->record.name, log.msg);
	return r < 0 ? r : ask_status(pod, err);
}

/* Which CPUs its vCPUs have: the ledger says which, the kernel which thread has which. */
static void adopt_one(struct handler *h, struct store_pod *record)
{
	struct pod *pod = adopt_revive(h, record);
	struct err err = {0};
	int r = 0;

	if (pod->record.step < pod_step_index("run") || !pod->plan)
		r = err_set(&err, -ECANCELED, "its start was cut short at step '%s'",
			    pod_steps[pod->record.step].name);
	if (r == 0) {
		pod->state = POD_RUNNING;
		r = poddir_open(h, pod->record.uid, &pod->dir_fd, &err);
	}
	if (r == 0)
		r = connect_launcher(pod, &err);
	if (r == -EAGAIN)
		keep_trying(pod, LAUNCHER, &err);
	else if (r < 0)
		adopt_give_up(pod, &err);
}

int adopt_all(struct handler *h, struct err *err)
{
	struct err shared = {0};
	int r = adopt_check_records(h, err);

	if (r == 0)
		r = adopt_each(h, adopt_one, err);
	if (r < 0)
		return r;
	(void)leftovers_remove(h); /* what resists was logged, and the next handler tries again */
	podlog_drop_orphans(h);
	if (cpuset_apply_shared(h, &shared) < 0)
		log_error("%s", shared.msg);
	return 0;
}
