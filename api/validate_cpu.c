// SPDX-License-Identifier: Apache-2.0
/* CPU, and the requests and limits that go with it. */
#include <inttypes.h>
#include <string.h>

#include "api/check.h"
#include "api/plan.h"
#include "api/quantity.h"
#include "api/schema.h"
#include "api/text.h"
#include "lib/json.h"

#define MEMORY_MIN 1000000 /* KubeVirt's least request */

static bool is_whole(const struct quantity *q)
{
	int64_t milli;

	return quantity_milli(q, &milli) == 0 && milli % 1000 == 0;
}

static void check_sizes(const struct check *c)
{
	static const char *const fields[] = {REQUESTS "memory", LIMITS "memory", REQUESTS "cpu",
					     LIMITS "cpu"};
	struct quantity a, b;
	int64_t bytes;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (check_get(c, fields[i], &a) && quantity_sign(&a) < 0)
			check_add(c, CAUSE_INVALID, fields[i], "is '%.60s', must not be negative",
				  check_shown(c, fields[i]));
	}
	if (check_positive(c, REQUESTS "memory", &a) && quantity_value(&a, &bytes) == 0 &&
	    bytes < MEMORY_MIN)
		check_add(c, CAUSE_INVALID, REQUESTS "memory", "is '%.60s', must be at least 1M",
			  check_shown(c, REQUESTS "memory"));
	if (check_get(c, REQUESTS "memory", &a) && check_get(c, LIMITS "memory", &b) &&
	    quantity_sign(&b) > 0 && quantity_cmp(&a, &b) > 0)
		check_add(c, CAUSE_INVALID, REQUESTS "memory",
			  "is '%.60s', must not be more than limits.memory, '%.60s'",
			  check_shown(c, REQUESTS "memory"), check_shown(c, LIMITS "memory"));
	if (check_get(c, REQUESTS "cpu", &a) && check_get(c, LIMITS "cpu", &b) &&
	    quantity_sign(&b) > 0 && quantity_cmp(&a, &b) > 0 &&
	    !json_flag(c->spec, "domain.cpu.dedicatedCpuPlacement", 0))
		check_add(c, CAUSE_INVALID, REQUESTS "cpu",
			  "is '%.60s', must not be more than limits.cpu, '%.60s'",
			  check_shown(c, REQUESTS "cpu"), check_shown(c, LIMITS "cpu"));
}

static void check_resource_names(const struct check *c, const char *which)
{
	const char *key;
	json_t *value;

	json_object_foreach (json_get(c->spec, which), key, value) {
		_cleanup_free_ char *field = NULL;

		if (!strcmp(key, "cpu") || !strcmp(key, "memory"))
			continue;
		field = strpbrk(key, ".[]") ? xasprintf("%s[%.100s]", which, key)
					    : xasprintf("%s.%.100s", which, key);
		check_add(c, CAUSE_NOT_SUPPORTED, field, NOT_YET ": cpu and memory are");
	}
}

static uint64_t count(const struct check *c, const char *field)
{
	return json_u64(c->spec, field, 1);
}

/* What dedicated CPUs need of requests and limits: whole CPUs, and the same everywhere. */
static void check_dedicated(const struct check *c, uint64_t vcpus)
{
	static const char *const fields[] = {REQUESTS "cpu", LIMITS "cpu"};
	struct quantity a, b;
	int64_t value;

	if (check_positive(c, REQUESTS "memory", &a) && check_positive(c, LIMITS "memory", &b) &&
	    quantity_cmp(&a, &b) != 0)
		check_add(c, CAUSE_INVALID, REQUESTS "memory",
			  "is '%.60s', must equal limits.memory, '%.60s', with dedicated CPUs: "
			  "leave one of them out",
			  check_shown(c, REQUESTS "memory"), check_shown(c, LIMITS "memory"));
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (check_get(c, fields[i], &a) && !is_whole(&a))
			check_add(c, CAUSE_INVALID, fields[i],
				  "is '%.60s', must be a whole number with dedicated CPUs",
				  check_shown(c, fields[i]));
	}
	if (check_positive(c, REQUESTS "cpu", &a) && check_positive(c, LIMITS "cpu", &b) &&
	    quantity_cmp(&a, &b) != 0) {
		check_add(c, CAUSE_INVALID, "domain.cpu.dedicatedCpuPlacement",
			  "needs requests.cpu and limits.cpu to be equal, they are '%.60s' and "
			  "'%.60s': leave one of them out",
			  check_shown(c, REQUESTS "cpu"), check_shown(c, LIMITS "cpu"));
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (check_positive(c, fields[i], &a) && is_whole(&a) &&
		    (quantity_value(&a, &value) < 0 || (uint64_t)value != vcpus))
			check_add(c, CAUSE_INVALID, "domain.cpu.dedicatedCpuPlacement",
				  "needs %s, '%.60s', to equal the %" PRIu64
				  " vCPUs of sockets × cores × threads",
				  fields[i] + strlen("domain.resources."),
				  check_shown(c, fields[i]), vcpus);
	}
	if (count(c, "domain.cpu.threads") > 2)
		check_add(c, CAUSE_INVALID, "domain.cpu.threads",
			  "is %" PRIu64 ", must be 1 or 2 with dedicated CPUs",
			  count(c, "domain.cpu.threads"));
}

/* Hotplug is not there: a maximum is taken where it says nothing more than the default would. */
static void check_maxima(const struct check *c)
{
	uint64_t sockets = count(c, "domain.cpu.sockets");
	uint64_t max = json_u64(c->spec, "domain.cpu.maxSockets", 0);
	struct quantity guest, max_guest;

	if (max != 0 && sockets > max)
		check_add(c, CAUSE_INVALID, "domain.cpu.sockets",
			  "is %" PRIu64 ", must not be more than maxSockets, %" PRIu64, sockets,
			  max);
	else if (max != 0 && max != sockets && max != 4 * sockets)
		check_add(c, CAUSE_NOT_SUPPORTED, "domain.cpu.maxSockets",
			  NOT_YET ": CPUs can't be added to a running guest");
	if (!check_get(c, "domain.memory.guest", &guest) ||
	    !check_get(c, "domain.memory.maxGuest", &max_guest))
		return;
	guest.magnitude *= 4;
	for (; guest.magnitude && guest.magnitude % 10 == 0; guest.exponent++)
		guest.magnitude /= 10;
	if (quantity_cmp(&guest, &max_guest) != 0)
		check_add(c, CAUSE_NOT_SUPPORTED, "domain.memory.maxGuest",
			  NOT_YET ": memory can't be added to a running guest");
}

void check_cpu(const struct check *c)
{
	/* each factor is at most 2^32-1: bounded before they are multiplied */
	uint64_t a = count(c, "domain.cpu.sockets"), b = count(c, "domain.cpu.cores"),
		 d = count(c, "domain.cpu.threads");
	const char *model = json_str(c->spec, "domain.cpu.model");
	bool dedicated = json_flag(c->spec, "domain.cpu.dedicatedCpuPlacement", false);

	check_sizes(c);
	check_resource_names(c, "domain.resources.requests");
	check_resource_names(c, "domain.resources.limits");
	check_maxima(c);
	if (a > PLAN_MAX_VCPUS || b > PLAN_MAX_VCPUS || d > PLAN_MAX_VCPUS ||
	    a * b * d > PLAN_MAX_VCPUS) {
		check_add(c, CAUSE_INVALID, "domain.cpu",
			  "asks for %" PRIu64 " sockets of %" PRIu64 " cores of %" PRIu64
			  " threads, must be at most %d vCPUs",
			  a, b, d, PLAN_MAX_VCPUS);
		return;
	}
	if (model && !text_ok(model, TEXT_NAME))
		check_add(c, CAUSE_INVALID, "domain.cpu.model",
			  "is '%.60s', must be host-model, host-passthrough or the name of a model",
			  model);
	if (dedicated)
		check_dedicated(c, a * b * d);
	else if (json_flag(c->spec, "domain.cpu.isolateEmulatorThread", false))
		check_add(c, CAUSE_INVALID, "domain.cpu.isolateEmulatorThread",
			  "needs dedicatedCpuPlacement: true beside it");
}
