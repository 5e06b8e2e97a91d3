// SPDX-License-Identifier: Apache-2.0
/*
 * A VM of the handler, over the API and nothing else, as any client would: created with a watch that
 * is open already, until its phase is Running; deleted with grace 0, until its processes are gone (by
 * pidfds) and until the object is, which the handler removes when everything else has gone.
 */
#include "cmd/apply.h"
#include "cmd/bench.h"
#include "cmd/follow.h"
#include "cmd/remove.h"
#include "cmd/signals.h"
#include "cmd/url.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <unistd.h>

#define WAIT_US 120000000ull

struct waiting {
	struct bench *b;
	sd_event *event;
	struct follow *follow;
	bool deletes;
	unsigned processes; /* still there */
	uint64_t processes_gone, done;
	json_t *vmi; /* the last state, owned */
	struct err err;
};

static void waiting_done(struct waiting *w)
{
	follow_free(w->follow);
	json_decref(w->vmi);
	sd_event_unref(w->event);
}

static void finish(struct waiting *w, int r, const char *why)
{
	if (r < 0)
		(void)err_set(&w->err, r, "%s", why);
	(void)sd_event_exit(w->event, 0);
}

/* A start that is not going to be: the handler says why in a condition. */
static const char *failure(const json_t *vmi)
{
	const char *phase = json_str(vmi, "status.phase");
	const json_t *conditions = json_get(vmi, "status.conditions");
	const json_t *refused = json_find(conditions, "reason", "Unschedulable");
	const json_t *sync = json_find(conditions, "type", "Synchronized");

	if (str_eq(phase, "Failed") || str_eq(phase, "Succeeded"))
		return json_str(sync, "message") ? json_str(sync, "message") : "it failed";
	return json_str(refused, "message");
}

static void on_change(void *arg, enum follow_what what, json_t *object, const struct err *err)
{
	struct waiting *w = arg;

	if (what == FOLLOW_FAILED) {
		finish(w, err->code, err->msg);
	} else if (what == FOLLOW_DELETED && w->deletes) {
		w->done = bench_now();
		if (!w->processes)
			finish(w, 0, NULL);
	} else if (what == FOLLOW_CHANGED && !w->deletes) {
		w->done = bench_now();
		json_decref(w->vmi);
		w->vmi = json_incref(object);
		if (str_eq(json_str(object, "status.phase"), "Running"))
			finish(w, 0, NULL);
		else if (failure(object))
			finish(w, -EIO, failure(object));
	}
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *si, void *arg)
{
	struct waiting *w = arg;

	(void)source;
	(void)si;
	w->b->stopped = true;
	finish(w, -ECANCELED, "interrupted");
	return 0;
}

static int on_late(sd_event_source *source, uint64_t usec, void *arg)
{
	(void)source;
	(void)usec;
	finish(arg, -ETIMEDOUT, "no end after two minutes");
	return 0;
}

static int on_process(sd_event_source *source, int fd, uint32_t revents, void *arg)
{
	struct waiting *w = arg;

	(void)fd;
	(void)revents;
	(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	w->processes_gone = bench_now();
	if (--w->processes == 0 && w->done)
		finish(w, 0, NULL);
	return 0;
}

static int waiting_open(struct bench *b, struct waiting *w, const char *name, struct err *err)
{
	int r = signals_loop(&w->event, on_signal, w, err);

	if (r == 0)
		r = sd_event_add_time_relative(w->event, NULL, CLOCK_MONOTONIC, WAIT_US, 1000,
					       on_late, w);
	if (r < 0)
		return err_errno(err, r, "event loop");
	return follow_open(b->client, w->event, b->vm->kind, manifest_ns(b->vm), name, on_change, w,
			   &w->follow, err);
}

static int waiting_run(struct waiting *w, const char *name, struct err *err)
{
	int r = sd_event_loop(w->event);

	if (w->err.code)
		return err_set(err, w->err.code, "VM %s: %s", name, w->err.msg);
	return r < 0 ? err_errno(err, r, "event loop") : 0;
}

int bench_vm_start(struct bench *b, const char *name, json_t **ret_vmi, uint64_t *ret_began,
		   uint64_t *ret_running, struct err *err)
{
	_cleanup_(waiting_done) struct waiting w = {.b = b};
	_cleanup_json_ json_t *object = json_deep_copy(b->vm->object);
	_cleanup_json_ json_t *stored = NULL;
	struct manifest_item item = *b->vm;
	int r = waiting_open(b, &w, name, err);

	if (r < 0)
		return r;
	(void)json_path_set(object, "metadata.name", json_string(name));
	item.object = object;
	*ret_began = bench_now();
	r = apply_create(b->client, &item, &stored, err);
	if (r == 0)
		r = waiting_run(&w, name, err);
	if (r < 0)
		return r;
	*ret_running = w.done;
	*ret_vmi = TAKE_PTR(w.vmi);
	return 0;
}

int bench_vm_pid(struct bench *b, const char *name, const char *process, pid_t *ret,
		 struct err *err)
{
	_cleanup_free_ char *path =
		url_subresource("subresources.virtpod.io", manifest_ns(b->vm), name, "inspect");
	_cleanup_json_ json_t *inspect = NULL;
	int r = client_call(b->client, "GET", path, NULL, &inspect, err);
	const json_t *found = json_find(json_get(inspect, "processes"), "name", process);

	if (r < 0)
		return r;
	*ret = (pid_t)json_u64(found, "pid", 0);
	return *ret > 0 ? 0 : err_set(err, -ESRCH, "VM %s has no %s", name, process);
}

static int watch_process(struct waiting *w, const char *name, const char *process, struct err *err)
{
	pid_t pid = 0;
	int fd, r = bench_vm_pid(w->b, name, process, &pid, err);
	sd_event_source *source;

	if (r < 0)
		return r;
	fd = pidfd_open(pid, 0);
	if (fd < 0)
		return err_errno(err, -errno, "VM %s: process %d", name, pid);
	r = sd_event_add_io(w->event, &source, fd, EPOLLIN, on_process, w);
	if (r < 0) {
		(void)fd_close(fd);
		return err_errno(err, r, "event loop");
	}
	(void)sd_event_source_set_io_fd_own(source, true);
	(void)sd_event_source_set_floating(source, 1);
	(void)sd_event_source_unref(source);
	w->processes++;
	return 0;
}

int bench_vm_delete(struct bench *b, const char *name, uint64_t *ret_processes, uint64_t *ret_all,
		    struct err *err)
{
	_cleanup_(waiting_done) struct waiting w = {.b = b, .deletes = true};
	_cleanup_free_ char *uid = NULL;
	uint64_t began;
	int r = waiting_open(b, &w, name, err);

	if (r == 0)
		r = watch_process(&w, name, "qemu", err);
	if (r == 0)
		r = watch_process(&w, name, "launcher", err);
	if (r < 0)
		return r;
	began = bench_now();
	r = remove_ask(b->client, b->vm->kind, manifest_ns(b->vm), name, 0, &uid, err);
	if (r == 0)
		r = waiting_run(&w, name, err);
	if (r < 0)
		return r;
	*ret_processes = w.processes_gone - began;
	*ret_all = w.done - began;
	bench_span(b, TRACK_DELETE, "delete", began, w.done);
	bench_span(b, TRACK_DELETE, "until its processes are gone", began, w.processes_gone);
	return 0;
}
