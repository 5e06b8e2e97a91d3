// SPDX-License-Identifier: Apache-2.0
#include "handler/vmstatus.h"

#include "handler/status.h"

#include "api/meta.h"
#include "api/vm.h"
#include "lib/json.h"

#define BACKOFF_SECONDS	    10
#define BACKOFF_MAX_SECONDS 300
#define RETRY_UPTIME	    "virtpod.io/retryAfterUptime"

static const char *const strategies[] = {
	[RUN_HALTED] = "Halted", [RUN_ALWAYS] = "Always", [RUN_RERUN_ON_FAILURE] = "RerunOnFailure",
	[RUN_ONCE] = "Once",	 [RUN_MANUAL] = "Manual",
};

bool vmstatus_vmi_final(const json_t *vmi)
{
	return status_is_final(json_object_get(vmi, "status"));
}

bool vmstatus_vmi_ran(const json_t *vmi)
{
	return json_find(json_get(vmi, "status.phaseTransitionTimestamps"), "phase", "Running");
}

static bool condition_is(const json_t *vmi, const char *type, const char *value, const char *reason)
{
	const json_t *c = status_condition(json_object_get(vmi, "status"), type);

	return c && str_eq(json_str(c, "status"), value) &&
	       (!reason || str_eq(json_str(c, "reason"), reason));
}

/* While there is a VMI that has not ended. */
static const char *printable_active(const json_t *vmi)
{
	if (json_get(vmi, "metadata.deletionTimestamp"))
		return "Stopping";
	if (str_eq(json_str(vmi, "status.phase"), "Running"))
		return condition_is(vmi, "Paused", "True", NULL) ? "Paused" : "Running";
	if (condition_is(vmi, "PodScheduled", "False", "Unschedulable"))
		return "ErrorUnschedulable";
	return "Starting";
}

/* The first that fits, in KubeVirt's order. */
static const char *printable(const json_t *vm, const json_t *status, const json_t *vmi)
{
	enum run_strategy strategy = vm_run_strategy(vm);

	if (json_get(vm, "metadata.deletionTimestamp"))
		return "Terminating";
	if (vmi && !vmstatus_vmi_final(vmi))
		return printable_active(vmi);
	if (json_u64(status, "startFailure.consecutiveFailCount", 0) > 0 &&
	    (strategy == RUN_ALWAYS || strategy == RUN_RERUN_ON_FAILURE || strategy == RUN_ONCE))
		return "CrashLoopBackOff";
	return "Stopped";
}

/* The VMI's own conditions; without one, that there is none. `old` keeps when that began. */
static void set_conditions(json_t *status, const json_t *old, const json_t *vmi,
			   const char *failure)
{
	const json_t *given = json_get(vmi, "status.conditions");
	const json_t *ready = status_condition(old, "Ready");
	const json_t *failed = status_condition(old, "Failure");
	json_t *list = given ? json_deep_copy(given) : json_array();

	if (!vmi && ready)
		(void)json_array_append_new(list, json_deep_copy(ready));
	if (failure && failed)
		(void)json_array_append_new(list, json_deep_copy(failed));
	(void)json_object_set_new(status, "conditions", list);
	if (!vmi)
		status_set_condition(status, "Ready", "False", "VMINotExists",
				     "VMI does not exist");
	if (failure)
		status_set_condition(status, "Failure", "True", "FailedCreate", failure);
}

json_t *vmstatus_next(const json_t *vm, const json_t *old, const json_t *vmi, const char *failure)
{
	json_t *status = old ? json_deep_copy(old) : json_object();
	const json_t *generation = json_get(vm, "metadata.generation");

	set_conditions(status, old, vmi, failure);
	(void)json_object_set_new(status, "created", json_boolean(vmi));
	(void)json_object_set_new(status, "ready",
				  json_boolean(condition_is(vmi, "Ready", "True", NULL)));
	(void)json_object_set_new(status, "runStrategy",
				  json_string(strategies[vm_run_strategy(vm)]));
	if (generation)
		(void)json_object_set_new(status, "observedGeneration", json_deep_copy(generation));
	(void)json_object_set_new(status, "printableStatus",
				  json_string(printable(vm, status, vmi)));
	return status;
}

void vmstatus_count_failure(json_t *status, const char *vmi_uid, time_t now, time_t uptime)
{
	uint64_t n = json_u64(status, "startFailure.consecutiveFailCount", 0) + 1;
	uint64_t wait = n < 6 ? BACKOFF_SECONDS * n * n : BACKOFF_MAX_SECONDS;
	char at[TIME_TEXT];

	if (str_eq(json_str(status, "startFailure.lastFailedVMIUID"), vmi_uid))
		return;
	(void)json_object_set_new(status, "startFailure",
				  json_pack("{s:I, s:s, s:s, s:I}", "consecutiveFailCount",
					    (json_int_t)n, "lastFailedVMIUID", vmi_uid,
					    "retryAfterTimestamp",
					    time_format(now + (time_t)wait, at), RETRY_UPTIME,
					    (json_int_t)uptime + (json_int_t)wait));
}

void vmstatus_clear_failures(json_t *status)
{
	(void)json_object_del(status, "startFailure"); /* absent is what is wanted */
}

time_t vmstatus_retry_at(const json_t *status)
{
	const json_t *failure = json_object_get(status, "startFailure");

	return (time_t)json_integer_value(json_object_get(failure, RETRY_UPTIME));
}
