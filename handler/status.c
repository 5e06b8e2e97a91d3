// SPDX-License-Identifier: Apache-2.0
#include "handler/status.h"

#include "lib/json.h"
#include "lib/mac.h"
#include "lib/util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Texts of others (a launcher's, cut to some length): terminals show them, and jansson takes UTF-8 alone. */
static void set_text(json_t *o, const char *key, const char *text)
{
	_cleanup_free_ char *line = xstrdup(text ? text : "");

	str_line(line, ' ');
	(void)json_object_set_new(o, key, json_string(line));
}

static void set_now(json_t *o, const char *key)
{
	char buf[32];
	time_t now = time(NULL);
	struct tm tm;

	(void)strftime(buf, sizeof buf, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	set_text(o, key, buf);
}

static json_t *array_of(json_t *status, const char *key)
{
	json_t *a = json_object_get(status, key);

	if (!a) {
		a = json_array();
		(void)json_object_set_new(status, key, a);
	}
	return a;
}

static json_t *find_condition(const json_t *status, const char *type, size_t *ret_index)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_object_get(status, "conditions"), i, c)
		if (str_eq(json_str(c, "type"), type)) {
			if (ret_index)
				*ret_index = i;
			return c;
		}
	return NULL;
}

const json_t *status_condition(const json_t *status, const char *type)
{
	return find_condition(status, type, NULL);
}

void status_set_condition(json_t *status, const char *type, const char *value, const char *reason,
			  const char *message)
{
	json_t *c = find_condition(status, type, NULL);
	bool changed = !c || !str_eq(json_str(c, "status"), value);

	if (!c) {
		c = json_object();
		set_text(c, "type", type);
		(void)json_object_set_new(c, "lastProbeTime", json_null());
		(void)json_array_append_new(array_of(status, "conditions"), c);
	}
	set_text(c, "status", value);
	if (reason)
		set_text(c, "reason", reason);
	else
		(void)json_object_del(c, "reason"); /* absent is what is wanted */
	if (message)
		set_text(c, "message", message);
	else
		(void)json_object_del(c, "message");
	if (changed)
		set_now(c, "lastTransitionTime");
}

void status_remove_condition(json_t *status, const char *type)
{
	size_t i;

	if (find_condition(status, type, &i))
		(void)json_array_remove(json_object_get(status, "conditions"), i);
}

void status_set_phase(json_t *status, const char *phase)
{
	json_t *t;

	if (str_eq(json_str(status, "phase"), phase))
		return;
	set_text(status, "phase", phase);
	t = json_object();
	set_text(t, "phase", phase);
	set_now(t, "phaseTransitionTimestamp");
	(void)json_array_append_new(array_of(status, "phaseTransitionTimestamps"), t);
	if (str_eq(phase, "Running"))
		status_set_condition(status, "Ready", "True", NULL, NULL);
	else if (str_eq(phase, "Pending"))
		status_set_condition(status, "Ready", "False", "PodNotExists",
				     "virt-launcher pod has not yet been scheduled");
	else
		status_set_condition(status, "Ready", "False", "GuestNotRunning",
				     "Guest VM is not reported as running");
}

json_t *status_new(const json_t *vmi)
{
	json_t *status = json_object();
	const json_t *given = json_object_get(vmi, "status");

	if (json_is_object(given))
		(void)json_object_update(status, (json_t *)(uintptr_t)given);
	(void)json_object_del(status, "phase");
	status_set_phase(status, "Pending");
	return status;
}

bool status_is_final(const json_t *status)
{
	const char *phase = json_str(status, "phase");

	return str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
}

void status_set_plan(json_t *status, const struct plan *plan)
{
	json_t *nics = json_array();

	(void)json_object_set_new(status, "currentCPUTopology",
				  json_pack("{s:i, s:i, s:i}", "sockets", plan->sockets, "cores",
					    plan->cores, "threads", plan->threads));
	(void)json_object_set_new(status, "machine", json_pack("{s:s}", "type", plan->machine));
	for (unsigned i = 0; i < plan->n_nics; i++) {
		const struct plan_nic *n = &plan->nics[i];
		char mac[MAC_TEXT_MAX];

		(void)mac_format(n->mac, mac);
		(void)json_array_append_new(nics, json_pack("{s:s, s:s, s:s, s:i}", "name", n->name,
							    "mac", mac, "infoSource", "domain",
							    "queueCount", n->queues));
	}
	(void)json_object_set_new(status, "interfaces", nics);
	if (plan->accel == ACCEL_TCG)
		status_set_condition(status, "SoftwareEmulation", "True", "UseEmulation",
				     "the guest runs under TCG: /dev/kvm does not work here and "
				     "developerConfiguration.useEmulation allows emulation");
}

void status_set_timing(json_t *status, const json_t *timing, uint64_t began_us, uint64_t total_us)
{
	json_t *t = json_deep_copy(timing);

	(void)json_object_set_new(t, "total", json_integer((json_int_t)total_us));
	(void)json_object_set_new(status, "virtpod.io/startMicroseconds", t);
	(void)json_object_set_new(status, "virtpod.io/startBegan",
				  json_integer((json_int_t)began_us));
}

/* Phase by outcome, as KubeVirt's calculateVmPhaseForStatusReason. Killed counts as success only when no better end was to be had. */
static const char *final_phase(const struct outcome *o, uint32_t grace_seconds)
{
	switch (o->kind) {
	case OUTCOME_SHUTDOWN:
		return "Succeeded";
	case OUTCOME_KILLED:
		return grace_seconds == 0 ? "Succeeded" : "Failed";
	case OUTCOME_NONE:
	case OUTCOME_CRASHED:
	case OUTCOME_QEMU_FAILED:
	case OUTCOME_WATCHDOG:
		break;
	}
	return "Failed";
}

void status_set_end(json_t *status, const struct outcome *outcome, const struct err *failure,
		    bool refused, uint32_t grace_seconds)
{
	if (refused) {
		bool cpus = failure->code == -EBUSY || failure->code == -ENOTSUP;

		status_set_phase(status, "Pending");
		status_set_condition(status, cpus ? "PodScheduled" : "Synchronized", "False",
				     cpus ? "Unschedulable" : "FailedCreate", failure->msg);
		status_remove_condition(status, cpus ? "Synchronized" : "PodScheduled");
		return;
	}
	if (failure->code) {
		set_text(status, "reason", "FailedStart");
		status_set_phase(status, "Failed");
		status_set_condition(status, "Synchronized", "False",
				     "Synchronizing with the Domain failed.", failure->msg);
		return;
	}
	set_text(status, "reason", outcome_name(outcome->kind));
	status_set_phase(status, final_phase(outcome, grace_seconds));
	if (outcome->message[0])
		status_set_condition(status, "Ready", "False", "GuestNotRunning", outcome->message);
}
