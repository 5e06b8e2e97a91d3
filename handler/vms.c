// SPDX-License-Identifier: Apache-2.0
#include "handler/vms.h"

#include "handler/events.h"
#include "handler/objstore.h"
#include "handler/server_internal.h"
#include "handler/vmstatus.h"

#include "api/admit.h"
#include "api/meta.h"
#include "api/vm.h"
#include "lib/json.h"
#include "lib/log.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* How the last VMI ended, for when it is no longer there to be asked. */
#define LAST_PHASE "virtpod.io/lastPhase"

/* One VM's round. */
struct round {
	struct handler *h;
	const struct kind *vm_kind, *vmi_kind;
	json_t *vm;	 /* whole, as stored */
	json_t *vmi;	 /* its own, or NULL; owned */
	json_t *status;	 /* becomes the next one; owned */
	char *failure;	 /* why there is no VMI, though there should be one; owned */
	time_t retry_at; /* by uptime_seconds(); 0: it does not wait */
};

static void round_done(struct round *r)
{
	json_decref(r->vmi);
	json_decref(r->status);
	free(r->failure);
}

static enum vm_last last_of(const struct round *r)
{
	const char *phase = json_str(r->vmi, "status.phase");

	if (!r->vmi || !vmstatus_vmi_final(r->vmi))
		phase = json_string_value(json_object_get(r->status, LAST_PHASE));
	if (!phase)
		return VM_LAST_NONE;
	return str_eq(phase, "Succeeded") ? VM_LAST_SUCCEEDED : VM_LAST_FAILED;
}

static bool owns(const json_t *vm, const json_t *vmi)
{
	return json_find(json_get(vmi, "metadata.ownerReferences"), "uid", object_uid(vm));
}

static int load_vmi(struct round *r)
{
	struct err err = {0};
	int e = object_load(r->h, r->vmi_kind, object_namespace(r->vm), object_name(r->vm), &r->vmi,
			    &err);

	if (e < 0 && e != -ENOENT) {
		log_error("%s", err.msg);
		return e;
	}
	if (r->vmi && !owns(r->vm, r->vmi)) {
		json_decref(r->vmi);
		r->vmi = NULL;
		r->failure = xasprintf("a VirtualMachineInstance \"%s\" that is not this "
				       "VirtualMachine's is there; delete it first",
				       object_name(r->vm));
	}
	return 0;
}

/* A VM says the same in each round: counted when it is news, and every five minutes. */
static void say_failed(struct round *r)
{
	static const struct event what = {.by = BY_CONTROLLER,
					  .warning = true,
					  .reason = "FailedCreate",
					  .quiet_seconds = 300};

	event_record(r->h, r->vm, &what, "Error creating virtual machine instance: %s", r->failure);
}

static void say(struct round *r, const char *reason, const char *words, const char *which)
{
	const struct event what = {.by = BY_CONTROLLER, .reason = reason};

	event_record(r->h, r->vm, &what, "%s %s", words, which);
}

static void end_vmi(struct round *r)
{
	int64_t grace = -1;
	struct err err = {0};
	int e;

	if (json_get(r->vm, "metadata.deletionGracePeriodSeconds"))
		grace = (int64_t)json_u64(r->vm, "metadata.deletionGracePeriodSeconds", 0);
	e = object_mark_deleted(r->h, r->vmi_kind, r->vmi, grace, &err);
	if (e < 0)
		log_error("%s", err.msg);
	if (e <= 0)
		return;
	say(r, "SuccessfulDelete",
	    "Stopped the virtual machine by deleting the virtual machine instance",
	    object_uid(r->vmi));
	handler_changed(r->h);
}

/* What the end of a VMI means for the next one. */
static void note_end(struct round *r)
{
	const char *phase = json_str(r->vmi, "status.phase");

	(void)json_object_set_new(r->status, LAST_PHASE, json_string(phase));
	if (vmstatus_vmi_ran(r->vmi))
		vmstatus_clear_failures(r->status);
	else
		vmstatus_count_failure(r->status, object_uid(r->vmi), time(NULL), uptime_seconds());
}

static void create_vmi(struct round *r)
{
	_cleanup_causes_ struct causes causes = {0};
	_cleanup_json_ json_t *vmi = vm_to_vmi(r->vm);
	const struct kind *k = r->vmi_kind;
	struct err err = {0};

	if (admit(vmi, object_namespace(r->vm), &k, &causes) < 0) {
		(void)causes_to_err(&causes, &err);
		r->failure = xstrdup(err.msg);
		return;
	}
	object_prepare(k, vmi);
	if (object_insert(r->h, k, vmi, &err) < 0) {
		r->failure = xstrdup(err.msg);
		return;
	}
	(void)json_object_del(r->status, LAST_PHASE);
	r->vmi = TAKE_PTR(vmi);
	say(r, "SuccessfulCreate",
	    "Started the virtual machine by creating the new virtual machine instance",
	    object_name(r->vmi));
	handler_changed(r->h);
}

static void without_vmi(struct round *r)
{
	time_t at = vmstatus_retry_at(r->status);

	if (r->failure || !vm_wants_running(r->vm, last_of(r)))
		return;
	if (at > uptime_seconds())
		r->retry_at = at;
	else
		create_vmi(r);
}

static void with_vmi(struct round *r)
{
	enum run_strategy strategy = vm_run_strategy(r->vm);

	if (vmstatus_vmi_final(r->vmi)) {
		note_end(r);
		if (strategy == RUN_HALTED || vm_wants_running(r->vm, last_of(r)))
			end_vmi(r);
		return;
	}
	if (vmstatus_vmi_ran(r->vmi))
		vmstatus_clear_failures(r->status);
	if (strategy == RUN_HALTED)
		end_vmi(r);
}

/* 1: the VM has gone. */
static int deleted(struct round *r)
{
	struct err err = {0};

	if (r->vmi) {
		end_vmi(r);
		return 0;
	}
	if (object_remove(r->h, r->vm_kind, r->vm, &err) < 0)
		log_error("%s", err.msg);
	return 1;
}

static void reconcile_vm(struct round *r)
{
	enum run_strategy strategy = vm_run_strategy(r->vm);
	_cleanup_json_ json_t *next = NULL;
	const json_t *old = json_object_get(r->vm, "status");

	if (load_vmi(r) < 0)
		return;
	r->status = old ? json_deep_copy(old) : json_object();
	if (strategy == RUN_HALTED || strategy == RUN_MANUAL)
		vmstatus_clear_failures(r->status);
	if (json_get(r->vm, "metadata.deletionTimestamp")) {
		if (deleted(r))
			return;
	} else if (r->vmi) {
		with_vmi(r);
	} else {
		without_vmi(r);
	}
	if (r->failure)
		say_failed(r);
	next = vmstatus_next(r->vm, r->status, r->vmi, r->failure);
	object_publish_status(r->h, r->vm_kind, r->vm, next);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	handler_kick(userdata);
	return 0;
}

/* The next round at the latest when the first waiting VM may be started. */
static void set_timer(struct handler *h, time_t at)
{
	sd_event_source **timer = &h->server->vm_timer;
	time_t now = uptime_seconds();
	int r = 0;

	*timer = sd_event_source_disable_unref(*timer);
	if (at)
		r = sd_event_add_time_relative(h->event, timer, CLOCK_MONOTONIC,
					       (uint64_t)(at > now ? at - now : 0) * 1000000, 0,
					       on_timer, h);
	if (r < 0)
		log_error("a VirtualMachine waits for its next start, but there is no timer: %s",
			  strerror(-r));
}

void vms_reconcile(struct handler *h)
{
	const struct kind *vm_kind = kind_by_path("kubevirt.io", "v1", "virtualmachines");
	const struct kind *vmi_kind = kind_by_path("kubevirt.io", "v1", "virtualmachineinstances");
	_cleanup_json_ json_t *list = NULL;
	struct err err = {0};
	time_t earliest = 0;
	json_t *vm;
	size_t i;

	if (object_list(h, vm_kind, NULL, &list, &err) < 0) {
		log_error("%s", err.msg);
		return;
	}
	json_array_foreach (list, i, vm) {
		_cleanup_(round_done) struct round r = {
			.h = h, .vm_kind = vm_kind, .vmi_kind = vmi_kind, .vm = vm};

		reconcile_vm(&r);
		if (r.retry_at && (!earliest || r.retry_at < earliest))
			earliest = r.retry_at;
	}
	set_timer(h, earliest);
}

bool vms_waiting(const struct handler *h)
{
	return h->server->vm_timer;
}

void vms_close(struct handler *h)
{
	if (h->server) /* a start that failed before there was one */
		h->server->vm_timer = sd_event_source_disable_unref(h->server->vm_timer);
}
