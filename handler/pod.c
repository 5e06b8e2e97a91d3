// SPDX-License-Identifier: Apache-2.0
#include "handler/pod.h"

#include "handler/channel.h"
#include "handler/exclusive.h"
#include "handler/images.h"
#include "handler/launcher.h"
#include "handler/loop.h"
#include "handler/ownlog.h"
#include "handler/podevents.h"
#include "handler/status.h"
#include "handler/vmi.h"
#include "handler/wires.h"

#include "api/wire.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/stop.h"
#include "lib/util.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

static void walk_forward(struct pod *pod);
static void walk_backward(struct pod *pod);

static uint64_t now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts); /* can't fail for this clock */
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

struct pod *pod_new(struct handler *h, const json_t *vmi, const json_t *status)
{
	struct pod *pod = xcalloc(1, sizeof *pod);

	pod->h = h;
	pod->vmi = json_deep_copy(vmi);
	pod->status = status ? json_deep_copy(status) : json_object();
	pod->timing = json_object();
	pod->record.uid = xstrdup(json_str(vmi, "metadata.uid"));
	pod->record.ns = xstrdup(json_str(vmi, "metadata.namespace"));
	pod->record.name = xstrdup(json_str(vmi, "metadata.name"));
	pod->dir_fd = pod->netns_fd = pod->pidfd = pod->log.fd = -1;
	pod->next = h->pods;
	h->pods = pod;
	return pod;
}

struct pod *pod_find(struct handler *h, const char *uid)
{
	for (struct pod *p = h->pods; p; p = p->next)
		if (str_eq(p->record.uid, uid))
			return p;
	return NULL;
}

struct pod *pod_find_running(struct handler *h, const char *ns, const char *name)
{
	for (struct pod *p = h->pods; p; p = p->next)
		if (str_eq(p->record.ns, ns) && str_eq(p->record.name, name) && p->channel &&
		    (p->state == POD_RUNNING || p->state == POD_STOPPING))
			return p;
	return NULL;
}

void pod_free(struct pod *pod)
{
	for (struct pod **p = &pod->h->pods; *p; p = &(*p)->next)
		if (*p == pod) {
			*p = pod->next;
			break;
		}
	channel_free(TAKE_PTR(pod->channel));
	exclusive_unwatch(pod);
	wires_unwatch(pod);
	sd_event_source_disable_unref(pod->exit_source);
	sd_event_source_disable_unref(pod->stop_timer);
	sd_event_source_disable_unref(pod->qemu_source);
	sd_event_source_disable_unref(pod->retry_timer);
	sd_event_source_disable_unref(pod->log_source);
	logfile_done(&pod->log);
	for (unsigned i = 0; i < pod->n_fds; i++)
		(void)fd_close(pod->fds[i].fd);
	free(pod->fds);
	(void)fd_close(pod->pidfd);
	(void)fd_close(pod->netns_fd);
	(void)fd_close(pod->dir_fd);
	plan_free(pod->plan);
	json_decref(pod->vmi);
	json_decref(pod->status);
	json_decref(pod->timing);
	json_decref(pod->qmp);
	store_pod_done(&pod->record);
	free(pod);
}

void pod_add_fd(struct pod *pod, int fd_consume, const char *fmt, ...)
{
	struct pod_fd *f;
	va_list ap;

	pod->fds = xrealloc(pod->fds, pod->n_fds + 1, sizeof *pod->fds);
	f = &pod->fds[pod->n_fds++];
	f->fd = fd_consume;
	va_start(ap, fmt);
	(void)vsnprintf(f->name, sizeof f->name, fmt, ap); /* names come from bounded labels */
	va_end(ap);
}

void pod_set_phase(struct pod *pod, const char *phase)
{
	status_set_phase(pod->status, phase);
	pod_publish(pod);
}

void pod_publish(struct pod *pod)
{
	vmi_publish(pod->h, pod->vmi, pod->status);
}

/* --- forward --------------------------------------------------------------------------------- */

/* A start that was refused before is tried quietly. */
static enum log_level pod_level(const struct pod *pod)
{
	return loop_refusal(pod->h, pod->record.uid) ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO;
}

void pod_start(struct pod *pod)
{
	ownlog_bound(pod->h);
	pod->state = POD_STARTING;
	pod->record.step = 0;
	pod->start_began = pod->step_began = now_us();
	log_write(pod_level(pod), "%s/%s: start", pod->record.ns, pod->record.name);
	walk_forward(pod);
}

static void note_done(struct pod *pod)
{
	uint64_t now = now_us();

	(void)json_object_set_new(pod->timing, pod_steps[pod->record.step].name,
				  json_integer((json_int_t)(now - pod->step_began)));
	pod->step_began = now; /* the next one: together they are the whole start */
	stop_at("%s-done", pod_steps[pod->record.step].name);
}

static void walk_forward(struct pod *pod)
{
	for (; pod->record.step < pod_n_steps; pod->record.step++) {
		const struct pod_step *step = &pod_steps[pod->record.step];
		struct err err = {0};
		int r;

		/* admit and plan touch nothing outside this process: no record to write for them */
		r = step->undo ? store_pod_put(pod->h->store, &pod->record, &err) : 0;
		if (step->undo)
			stop_at("%s", step->name);
		if (r == 0)
			r = step->run(pod, &err);
		if (r == STEP_WAIT)
			return;
		if (r < 0) {
			pod_fail(pod, &err);
			return;
		}
		note_done(pod);
	}
	pod->record.step = pod_n_steps - 1;
	pod->state = POD_RUNNING;
	status_set_timing(pod->status, pod->timing, pod->start_began,
			  pod->step_began - pod->start_began);
	log_info("%s/%s: running, %llu ms after its start", pod->record.ns, pod->record.name,
		 (unsigned long long)(pod->step_began - pod->start_began) / 1000);
	pod_set_phase(pod, "Running");
	pod_event(pod, "Started", "VirtualMachineInstance started.");
	wires_watch(pod);
	handler_kick(pod->h); /* it may have been deleted meanwhile */
}

void pod_step_done(struct pod *pod, int r, const struct err *err)
{
	if (pod->state == POD_UNDOING) {
		walk_backward(pod); /* the same undo again: what it waited for has happened */
		return;
	}
	if (r < 0) {
		pod_fail(pod, err);
		return;
	}
	note_done(pod);
	pod->record.step++;
	walk_forward(pod);
}

/* --- backward -------------------------------------------------------------------------------- */

/* What the host can't give now, and may later; in net, a name that somebody has, or a network in use otherwise. */
static bool is_refusal(int step, int code)
{
	return !pod_steps[step].undo || step == pod_step_index("cpus") ||
	       (step == pod_step_index("cgroup") && code == -ENOTSUP) ||
	       (step == pod_step_index("net") && (code == -EEXIST || code == -EBUSY));
}

void pod_fail(struct pod *pod, const struct err *err)
{
	if (pod->state == POD_UNDOING)
		return; /* the first failure is the one that counts */
	pod->failure = *err;
	pod->refused = is_refusal(pod->record.step, err->code);
	log_write(str_eq(loop_refusal(pod->h, pod->record.uid), err->msg) ? LOG_LEVEL_DEBUG
									  : LOG_LEVEL_WARNING,
		  "%s/%s: step '%s' failed: %s", pod->record.ns, pod->record.name,
		  pod_steps[pod->record.step].name, err->msg);
	pod_event_failed(pod);
	pod_end(pod);
}

void pod_end(struct pod *pod)
{
	if (pod->state == POD_UNDOING)
		return;
	pod->state = POD_UNDOING;
	walk_backward(pod);
}

static void finish(struct pod *pod)
{
	struct handler *h = pod->h;
	bool refused = pod->refused;
	struct err err = {0};

	stop_at("undone");
	if (store_pod_delete(h->store, pod->record.uid, &err) < 0)
		log_error("%s", err.msg);
	stop_at("forgotten");
	status_set_end(pod->status, &pod->outcome, &pod->failure, pod->refused, pod->grace_seconds);
	pod_publish(pod);
	if (!pod->failure.code)
		pod_event_stopped(pod);
	log_write(pod_level(pod), "%s/%s: everything of it is gone", pod->record.ns,
		  pod->record.name);
	if (refused)
		loop_refused(h, pod->record.uid, pod->failure.msg);
	else /* it may not be there */
		(void)json_object_del(h->refused, pod->record.uid);
	pod_free(pod);
	if (!h->pods)
		images_unused(h);
	if (refused)
		handler_kick(h);
	else
		handler_changed(h); /* its CPUs are free for others */
}

#define UNDO_RETRY_USEC (2 * 1000000ull)

static int on_undo_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct pod *pod = userdata;

	(void)source;
	(void)usec;
	pod->retry_timer = sd_event_source_disable_unref(pod->retry_timer);
	walk_backward(pod);
	return 0;
}

/*
 * What can't be undone yet (a process that does not die, a mount in use) keeps what lies below it:
 * a CPU is nobody else's while somebody may still run on it. It is tried again until it goes.
 */
static void undo_later(struct pod *pod, const char *step, const struct err *err)
{
	_cleanup_free_ char *text = xasprintf("undo of step '%s': %s", step, err->msg);
	const json_t *said = status_condition(pod->status, "Synchronized");

	if (!str_eq(json_str(said, "message"), text)) {
		log_error("%s/%s: %s; trying again", pod->record.ns, pod->record.name, text);
		status_set_condition(pod->status, "Synchronized", "False", "FailedDelete", text);
		status_set_condition(pod->status, "Ready", "False", "GuestNotRunning",
				     "no guest runs; its pod can't be removed yet");
		pod_publish(pod);
		pod_event_warning(pod, "FailedDelete", text);
	}
	pod->retry_timer = sd_event_source_disable_unref(pod->retry_timer);
	if (sd_event_add_time_relative(pod->h->event, &pod->retry_timer, CLOCK_MONOTONIC,
				       UNDO_RETRY_USEC, /* accuracy= */ 0, on_undo_retry, pod) < 0)
		log_error("%s/%s: no timer to try again: the next virt-handler will",
			  pod->record.ns, pod->record.name);
}

static void walk_backward(struct pod *pod)
{
	for (; pod->record.step >= 0; pod->record.step--) {
		const struct pod_step *step = &pod_steps[pod->record.step];
		struct err err = {0};
		int r;

		if (step->undo)
			stop_at("undo-%s", step->name);
		r = step->undo ? step->undo(pod, &err) : 0;

		if (r == STEP_WAIT)
			return;
		if (r < 0) {
			undo_later(pod, step->name, &err);
			return;
		}
	}
	finish(pod);
}

/* --- stop ------------------------------------------------------------------------------------ */

/* The launcher escalates by itself: SIGTERM to QEMU when grace is over, SIGKILL 5 s later. */
#define LAUNCHER_MARGIN_SECONDS 15

static int on_stop_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct pod *pod = userdata;

	(void)source;
	(void)usec;
	launcher_kill_for(pod, OUTCOME_KILLED, "the launcher did not end its guest in time");
	return 0;
}

static void kill_unstoppable(struct pod *pod, const struct err *err)
{
	_cleanup_free_ char *why = xasprintf("shutdown: %s", err->msg);

	launcher_kill_for(pod, OUTCOME_KILLED, why);
}

static void on_shutdown_reply(void *arg, int r, const json_t *reply, const struct err *err)
{
	struct pod *pod = arg;

	(void)reply;
	if (r == 0 || r == -ECANCELED)
		return;
	kill_unstoppable(pod, err);
}

static int arm_stop_timer(struct pod *pod, uint32_t grace_seconds, struct err *err)
{
	uint64_t usec = ((uint64_t)grace_seconds + LAUNCHER_MARGIN_SECONDS) * 1000000;
	int r;

	pod->stop_timer = sd_event_source_disable_unref(pod->stop_timer);
	r = sd_event_add_time_relative(pod->h->event, &pod->stop_timer, CLOCK_MONOTONIC, usec,
				       /* accuracy= */ 0, on_stop_timer, pod);
	return r < 0 ? err_errno(err, r, "stop timer") : 0;
}

void pod_shutdown(struct pod *pod, uint32_t grace_seconds)
{
	struct err err = {0};
	int r;

	if (grace_seconds > WIRE_GRACE_MAX_SECONDS)
		grace_seconds = WIRE_GRACE_MAX_SECONDS;
	if (pod->state == POD_UNDOING ||
	    (pod->state == POD_STOPPING && grace_seconds >= pod->grace_seconds))
		return;
	if (grace_seconds && pod->state == POD_RUNNING)
		pod_event(pod, "ShuttingDown", "Signaled Graceful Shutdown");
	else
		pod_event(pod, "Deleted", "Signaled Deletion");
	if (pod->state == POD_STARTING) {
		(void)err_set(&err, -ECANCELED, "deleted while it started");
		pod_fail(pod, &err);
		return;
	}
	pod->state = POD_STOPPING;
	pod->grace_seconds = grace_seconds;
	r = arm_stop_timer(pod, grace_seconds, &err);
	if (r == 0 && !pod->channel) /* a silent launcher, which is tried again (handler/adopt.c) */
		r = launcher_connect(pod, &err);
	if (r == 0)
		r = channel_request(pod->channel, "shutdown",
				    json_pack("{s:I}", "graceSeconds", (json_int_t)grace_seconds),
				    NULL, 0, grace_seconds < 8 ? grace_seconds + 2 : 10,
				    on_shutdown_reply, pod, &err);
	if (r < 0)
		kill_unstoppable(pod, &err);
}
