// SPDX-License-Identifier: Apache-2.0
#include "handler/podevents.h"

#include "handler/events.h"

#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <stdlib.h>

/* Kubernetes' scheduler tries pods that nothing could help again this often. */
#define REFUSAL_QUIET_SECONDS 300

/* A guest or a launcher may cause these as often as it likes. */
#define GUEST_QUIET_SECONDS 10

void pod_event(struct pod *pod, const char *reason, const char *message)
{
	const struct event what = {.by = BY_HANDLER, .reason = reason};

	event_record(pod->h, pod->vmi, &what, "%s", message);
}

void pod_event_warning(struct pod *pod, const char *reason, const char *message)
{
	const struct event what = {.by = BY_HANDLER, .reason = reason, .warning = true};

	event_record(pod->h, pod->vmi, &what, "%s", message);
}

void pod_event_created(struct pod *pod)
{
	const struct event what = {.by = BY_CONTROLLER, .reason = "SuccessfulCreate"};

	event_record(pod->h, pod->vmi, &what, "Created virtual machine pod pod-%s",
		     pod->record.uid);
}

void pod_event_failed(struct pod *pod)
{
	bool cpus = pod->failure.code == -EBUSY || pod->failure.code == -ENOTSUP;
	struct event what = {.by = BY_HANDLER, .warning = true, .reason = "SyncFailed"};

	if (pod->failure.code == -ECANCELED)
		return;
	if (pod->refused) {
		what.reason = cpus ? "FailedScheduling" : "FailedCreate";
		what.quiet_seconds = REFUSAL_QUIET_SECONDS;
	}
	event_record(pod->h, pod->vmi, &what, "%s", pod->failure.msg);
}

void pod_event_stopped(struct pod *pod)
{
	const struct outcome *o = &pod->outcome;
	const char *words = o->message[0] ? o->message : "its launcher was killed";
	struct event what = {.by = BY_HANDLER, .reason = "Stopped"};

	switch (o->kind) {
	case OUTCOME_SHUTDOWN:
		event_record(pod->h, pod->vmi, &what, "The VirtualMachineInstance was shut down.");
		return;
	case OUTCOME_KILLED:
		what.warning = pod->grace_seconds > 0; /* else it was what was asked for */
		event_record(pod->h, pod->vmi, &what, "The VirtualMachineInstance was killed: %s",
			     words);
		return;
	case OUTCOME_NONE:
	case OUTCOME_CRASHED:
	case OUTCOME_QEMU_FAILED:
	case OUTCOME_WATCHDOG:
		break;
	}
	what.warning = true;
	event_record(pod->h, pod->vmi, &what, "The VirtualMachineInstance crashed: %s", words);
}

/* "disk0" is the plan's first disk; anything else a launcher may say names none. */
static const char *disk_of(const struct pod *pod, const char *node)
{
	const char *number = node ? str_after(node, "disk") : NULL;
	unsigned long i;
	char *end;

	if (!pod->plan || !number || *number < '0' || *number > '9')
		return NULL;
	i = strtoul(number, &end, 10);
	return *end || i >= pod->plan->n_disks ? NULL : pod->plan->disks[i].name;
}

void pod_event_qmp(struct pod *pod, const json_t *event)
{
	const char *name = json_str(event, "name");
	struct event what = {
		.by = BY_HANDLER, .warning = true, .quiet_seconds = GUEST_QUIET_SECONDS};

	if (str_eq(name, "GUEST_PANICKED")) {
		what.reason = "GuestPanicked";
		event_record(pod->h, pod->vmi, &what, "The guest panicked.");
	} else if (str_eq(name, "BLOCK_IO_ERROR")) {
		const char *disk = disk_of(pod, json_str(event, "data.node-name"));

		what.reason = "IOerror";
		event_record(pod->h, pod->vmi, &what, "I/O error at the disk: %s",
			     disk ? disk : "unknown");
	}
}
