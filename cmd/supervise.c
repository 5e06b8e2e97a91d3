// SPDX-License-Identifier: Apache-2.0
/*
 * Everything is driven by what the watch streams say about the objects, never by what was asked
 * before: a VM that somebody else deletes, a handler that is restarted in between, and a guest that
 * powers itself off all arrive here in the same way.
 */
#include "cmd/supervise.h"

#include "cmd/attach.h"
#include "cmd/follow.h"
#include "cmd/label.h"
#include "cmd/remove.h"
#include "cmd/signals.h"
#include "cmd/verdict.h"

#include "api/meta.h"
#include "api/vm.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define DRAIN_US (3u * 1000000) /* for the console's last bytes when all VMs have ended */

struct run;

struct vm {
	struct run *run;
	const struct supervised *from;
	bool is_vm; /* VirtualMachine: its VMIs may come and go */
	char *label;
	char phase[32];
	char vmi_uid[UUID_TEXT]; /* of the VMI that was seen last */
	struct follow *vmi, *vm;
	bool done;
	int code;
};

struct run {
	struct client *client;
	sd_event *event;
	const struct supervise_options *options;
	struct vm *vms;
	size_t n;
	struct attach *attach;
	bool console_over; /* left, or nobody reads */
	unsigned asked;	   /* signals that counted */
	uint64_t asked_us; /* when the last of them came */
	int code;	   /* of a failure of the supervision itself */
};

__attribute__((format(printf, 2, 3))) static void say(const struct vm *vm, const char *fmt, ...)
{
	char text[ERR_MSG_MAX];
	va_list ap;

	if (vm->run->options->quiet)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	log_info("%s: %s", vm->label, text);
}

static int on_drained(sd_event_source *source, uint64_t usec, void *arg)
{
	struct run *run = arg;

	(void)source;
	(void)usec;
	return sd_event_exit(run->event, 0);
}

static void leave_if_done(struct run *run)
{
	for (size_t i = 0; i < run->n; i++)
		if (!run->vms[i].done)
			return;
	if (!run->attach || sd_event_add_time_relative(run->event, NULL, CLOCK_MONOTONIC, DRAIN_US,
						       1000, on_drained, run) < 0)
		(void)sd_event_exit(run->event, 0);
}

static void vm_done(struct vm *vm, int code, const char *message)
{
	if (vm->done)
		return;
	vm->done = true;
	vm->code = code;
	if (code)
		log_error("%s: %s", vm->label, message);
	else
		say(vm, "%s", message);
	leave_if_done(vm->run);
}

static void fail(struct run *run, const struct err *err)
{
	run->code = cli_fail(err);
	(void)sd_event_exit(run->event, 0);
}

static void on_console_end(void *arg, enum attach_end why)
{
	struct run *run = arg;

	attach_free(run->attach);
	run->attach = NULL;
	run->console_over = why == ATTACH_LEFT || why == ATTACH_NO_READER;
	if (why == ATTACH_LEFT)
		log_info("left the console; the VM runs on: Ctrl-C asks it to shut down");
	leave_if_done(run);
}

static void open_console(struct run *run, const struct vm *vm)
{
	const struct manifest_item *item = vm->from->item;
	struct err err = {0};
	int r;

	if (!run->options->console || run->attach || run->console_over)
		return;
	r = attach_open(run->client, run->event, manifest_ns(item), object_name(item->object),
			/* pipe_stdin= */ false, on_console_end, run, &run->attach, &err);
	if (r < 0)
		log_warning("%s: no console: %s", vm->label, err.msg);
}

/* Was it another one before? */
static bool show_phase(struct vm *vm, const struct verdict *v)
{
	if (str_eq(vm->phase, v->phase))
		return false;
	(void)snprintf(vm->phase, sizeof vm->phase, "%s", v->phase);
	if (str_eq(v->phase, "Running") && v->started_seconds > 0)
		say(vm, "Running (started in %.3f s)", v->started_seconds);
	else if (v->state == VERDICT_GOES_ON)
		say(vm, "%s", v->phase);
	return true;
}

/* Will the VirtualMachine make another VMI after this one's end? */
static bool comes_again(const struct vm *vm, const struct verdict *v)
{
	return vm->is_vm && !vm->run->asked &&
	       vm_wants_running(vm->from->item->admitted,
				str_eq(v->phase, "Succeeded") ? VM_LAST_SUCCEEDED : VM_LAST_FAILED);
}

static void judge(struct vm *vm, const json_t *vmi)
{
	bool asked = json_object_get(json_object_get(vmi, "metadata"), "deletionTimestamp");
	struct verdict v;
	bool changed;

	verdict_of(vmi, &v);
	changed = show_phase(vm, &v);
	if (str_eq(v.phase, "Running") && !asked)
		open_console(vm->run, vm);
	switch (v.state) {
	case VERDICT_GOES_ON:
		break;
	case VERDICT_REFUSED:
		if (!asked) /* what is on its way out was judged before */
			vm_done(vm, v.code, v.message);
		break;
	case VERDICT_ENDED:
		if (!comes_again(vm, &v))
			vm_done(vm, v.code, v.message);
		else if (changed)
			say(vm, "%s: %s; its run strategy starts it again", v.phase, v.message);
		break;
	}
}

static void vmi_gone(struct vm *vm)
{
	vm->phase[0] = 0;
	if (!vm->is_vm)
		vm_done(vm, EXIT_DONE, "deleted");
}

static bool is_ours(const struct vm *vm, const json_t *vmi)
{
	return vm->is_vm || str_eq(object_uid(vmi), vm->from->uid);
}

static void on_vmi(void *arg, enum follow_what what, json_t *object, const struct err *err)
{
	struct vm *vm = arg;

	if (vm->done)
		return;
	switch (what) {
	case FOLLOW_FAILED:
		fail(vm->run, err);
		return;
	case FOLLOW_SYNCED:
		/* listed again after a cut: what was there before and is not now has been deleted */
		if (!vm->vmi_uid[0] && vm->phase[0])
			vmi_gone(vm);
		vm->vmi_uid[0] = 0;
		return;
	case FOLLOW_DELETED:
		judge(vm, object);
		if (!vm->done)
			vmi_gone(vm);
		return;
	case FOLLOW_LISTED:
		(void)snprintf(vm->vmi_uid, sizeof vm->vmi_uid, "%s", object_uid(object));
		break;
	case FOLLOW_CHANGED:
		break;
	}
	if (is_ours(vm, object))
		judge(vm, object);
	else
		vmi_gone(vm);
}

static void on_vm(void *arg, enum follow_what what, json_t *object, const struct err *err)
{
	struct vm *vm = arg;

	(void)object;
	if (what == FOLLOW_FAILED)
		fail(vm->run, err);
	else if (what == FOLLOW_DELETED)
		vm_done(vm, EXIT_DONE, "deleted");
}

static void ask(struct run *run, struct vm *vm)
{
	const struct manifest_item *item = vm->from->item;
	long grace = run->asked > 1 ? 0 : GRACE_OF_VM;
	const char *ns = manifest_ns(item), *name = object_name(item->object);
	_cleanup_free_ char *uid = NULL, *vmi_uid = NULL;
	struct err err = {0};
	int r = remove_ask(run->client, item->kind, ns, name, grace, &uid, &err);

	/* a VM's deletion asks its VMI to shut down; that it is to be killed is said to the VMI */
	if (r == 0 && vm->is_vm && grace == 0)
		(void)remove_ask(run->client, label_vmi(), ns, name, grace, &vmi_uid, NULL);
	if (r == -ENOENT)
		vm_done(vm, EXIT_DONE, "deleted");
	else if (r < 0)
		fail(run, &err);
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *si, void *arg)
{
	struct run *run = arg;
	uint64_t now = 0;

	(void)source;
	(void)si;
	(void)sd_event_now(run->event, CLOCK_MONOTONIC, &now);
	if (!signals_counts(&run->asked_us, now))
		return 0;
	run->asked++;
	log_info(run->asked > 1 ? "killing" : "asking to shut down; once more kills");
	for (size_t i = 0; i < run->n; i++)
		if (!run->vms[i].done)
			ask(run, &run->vms[i]);
	return 0;
}

static int follow_vm(struct run *run, struct vm *vm, struct err *err)
{
	const struct manifest_item *item = vm->from->item;
	const char *ns = manifest_ns(item), *name = object_name(item->object);
	int r = 0;

	if (vm->is_vm)
		r = follow_open(run->client, run->event, item->kind, ns, name, on_vm, vm, &vm->vm,
				err);
	if (r == 0)
		r = follow_open(run->client, run->event, label_vmi(), ns, name, on_vmi, vm,
				&vm->vmi, err);
	return r;
}

static void begin(struct run *run, const struct supervised *from)
{
	run->vms = xcalloc(run->n, sizeof *run->vms);
	for (size_t i = 0; i < run->n; i++) {
		run->vms[i].run = run;
		run->vms[i].from = &from[i];
		run->vms[i].label = manifest_label(from[i].item);
		run->vms[i].is_vm = from[i].item->kind != label_vmi();
	}
}

static void end(struct run *run)
{
	attach_free(run->attach);
	for (size_t i = 0; i < run->n; i++) {
		follow_free(run->vms[i].vm);
		follow_free(run->vms[i].vmi);
		free(run->vms[i].label);
		if (!run->code)
			run->code = run->vms[i].code;
	}
	free(run->vms);
	sd_event_unref(run->event);
}

int supervise(struct client *c, const struct supervised *vms, size_t n,
	      const struct supervise_options *options)
{
	struct run run = {.client = c, .n = n, .options = options};
	struct err err = {0};
	int r = signals_loop(&run.event, on_signal, &run, &err);

	if (r < 0)
		return cli_fail(&err);
	begin(&run, vms);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = follow_vm(&run, &run.vms[i], &err);
	if (r < 0)
		run.code = cli_fail(&err);
	else
		(void)sd_event_loop(run.event);
	end(&run);
	return run.code;
}
