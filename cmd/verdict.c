// SPDX-License-Identifier: Apache-2.0
#include "cmd/verdict.h"

#include "cmd/age.h"

#include "lib/json.h"
#include "lib/util.h"

#define GRACE_SECONDS 30 /* of who says nothing about it (api/plan_make.c) */

static const json_t *condition(const json_t *vmi, const char *type)
{
	return json_find(json_get(vmi, "status.conditions"), "type", type);
}

static bool is_false_for(const json_t *c, const char *reason)
{
	return str_eq(json_str(c, "status"), "False") && str_eq(json_str(c, "reason"), reason);
}

static const char *text_of(const json_t *c)
{
	const char *message = json_str(c, "message");

	return message ? message : "";
}

/* Of a VMI that failed: what kept it from starting, else how the guest ended. */
static const char *failure(const json_t *vmi, const char *reason)
{
	const json_t *sync = condition(vmi, "Synchronized");

	if (str_eq(json_str(sync, "status"), "False") && *text_of(sync))
		return text_of(sync);
	if (*text_of(condition(vmi, "Ready")))
		return text_of(condition(vmi, "Ready"));
	return reason ? reason : "";
}

static void ended(const json_t *vmi, struct verdict *v)
{
	const char *reason = json_str(vmi, "status.reason");
	bool asked = json_str(vmi, "metadata.deletionTimestamp") != NULL;

	v->state = VERDICT_ENDED;
	v->reason = reason ? reason : "";
	if (str_eq(v->phase, "Succeeded")) {
		v->code = EXIT_DONE;
		v->message = str_eq(reason, "Killed") ? "killed on request" : "the guest shut down";
	} else if (asked && str_eq(reason, "Killed")) {
		v->code = EXIT_DONE;
		v->message = "did not shut down within its grace period and was killed";
	} else {
		v->code = EXIT_FAILED;
		v->message = failure(vmi, reason);
	}
}

void verdict_of(const json_t *vmi, struct verdict *ret)
{
	const char *phase = json_str(vmi, "status.phase");
	uint64_t us = json_u64(json_get(vmi, "status"), "[virtpod.io/startMicroseconds].total", 0);
	const json_t *scheduled = condition(vmi, "PodScheduled");
	const json_t *sync = condition(vmi, "Synchronized");
	struct verdict v = {.phase = phase && *phase ? phase : "Pending",
			    .reason = "",
			    .message = "",
			    .started_seconds = (double)us / 1e6};

	if (str_eq(phase, "Succeeded") || str_eq(phase, "Failed")) {
		ended(vmi, &v);
	} else if (is_false_for(scheduled, "Unschedulable") || is_false_for(sync, "FailedCreate")) {
		const json_t *c = is_false_for(sync, "FailedCreate") ? sync : scheduled;

		v.state = VERDICT_REFUSED;
		v.code = EXIT_REFUSED;
		v.reason = json_str(c, "reason");
		v.message = text_of(c);
	}
	*ret = v;
}

long verdict_kill_in(const json_t *object, time_t now)
{
	time_t asked = age_time(json_str(object, "metadata.deletionTimestamp"));
	const json_t *template = json_get(object, "spec.template.spec");
	uint64_t grace = json_u64(template ? template : json_get(object, "spec"),
				  "terminationGracePeriodSeconds", GRACE_SECONDS);
	bool has_guest = str_eq(json_str(object, "status.phase"), "Running") ||
			 json_flag(object, "status.ready", false);
	time_t end;

	grace = json_u64(object, "metadata.deletionGracePeriodSeconds", grace);
	end = asked + (time_t)grace;
	if (asked < 0 || !has_guest || !grace)
		return -1;
	return end > now ? (long)(end - now) : 0;
}

/* A VM has its VMI's conditions, and one of its own for when it can't make one. */
static const json_t *obstacle(const json_t *object)
{
	static const struct {
		const char *type, *status;
	} bad[] = {{"Failure", "True"},
		   {"Synchronized", "False"},
		   {"PodScheduled", "False"},
		   {"virtpod.io/Exclusive", "False"},
		   {"virtpod.io/Network", "False"}};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const json_t *c = condition(object, bad[i].type);

		if (str_eq(json_str(c, "status"), bad[i].status))
			return c;
	}
	return NULL;
}

void verdict_why(const json_t *object, const char **ret_reason, const char **ret_message)
{
	const json_t *c = obstacle(object);
	const char *reason = json_str(c, "reason");
	struct verdict v;

	verdict_of(object, &v);
	if (v.state == VERDICT_GOES_ON) {
		bool deleted = json_get(object, "metadata.deletionTimestamp");

		v.reason = reason ? reason : deleted ? "Terminating" : "";
		v.message = c ? text_of(c) : deleted ? "it is being deleted" : "";
	}
	*ret_reason = v.reason;
	*ret_message = v.message;
}

char *verdict_text(const json_t *object)
{
	const char *phase = json_str(object, "status.phase");
	const char *vm = json_str(object, "status.printableStatus");
	const char *parts[3] = {phase ? phase : vm, NULL, NULL};
	char *text = xstrdup("");

	verdict_why(object, &parts[1], &parts[2]);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		char *before = text;

		if (!parts[i] || !*parts[i])
			continue;
		text = xasprintf("%s%s%s", before, *before ? ": " : "", parts[i]);
		free(before);
	}
	return text;
}
