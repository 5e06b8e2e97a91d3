// SPDX-License-Identifier: Apache-2.0
/* Memory: how much, in which pages, and what of the host's nodes the guest is to see. */
#include "api/check.h"
#include "api/overhead.h"
#include "api/plan.h"
#include "api/vcpumask.h"
#include "lib/json.h"

#define MEMORY_MAX ((int64_t)1 << 50) /* 1 PiB: a quarter of what a plan may hold */

#define PAGE_SIZE_FIELD "domain.memory.hugepages.pageSize"
#define NUMA_FIELD	"domain.cpu.numa.guestMappingPassthrough"
#define DEDICATED_FIELD "domain.cpu.dedicatedCpuPlacement"
#define REALTIME_FIELD	"domain.cpu.realtime"

/* So that sums of sizes stay inside what a plan may hold (api/plan_json.c). */
static void check_memory_max(const struct check *c, const char *field)
{
	struct quantity q;
	int64_t bytes;

	if (check_positive(c, field, &q) && (quantity_value(&q, &bytes) < 0 || bytes > MEMORY_MAX))
		check_add(c, CAUSE_INVALID, field, "is '%.60s', must be at most 1 PiB",
			  check_shown(c, field));
}

#define GUEST_MIN (1 << 20)

static void check_guest(const struct check *c)
{
	struct quantity q, request;
	int64_t bytes;

	check_memory_max(c, "domain.memory.guest");
	check_memory_max(c, LIMITS "memory");
	if (!check_get(c, "domain.memory.guest", &q)) {
		if (c->sized)
			return;
		check_add(c, CAUSE_REQUIRED, "domain.memory.guest",
			  "is missing, and so are resources.requests.memory and limits.memory: say "
			  "how much memory the guest has, such as memory: {guest: 1Gi}");
	} else if (quantity_sign(&q) <= 0 &&
		   !(check_get(c, REQUESTS "memory", &request) && quantity_sign(&request) < 0)) {
		/* taken from a negative request, it is the request that is reported */
		check_add(c, CAUSE_INVALID, "domain.memory.guest",
			  "is '%.60s', must be more than nothing",
			  check_shown(c, "domain.memory.guest"));
	} else if (quantity_value(&q, &bytes) == 0 && bytes > 0 && bytes < GUEST_MIN) {
		/* KubeVirt takes it, and QEMU has no use for it */
		check_add(c, CAUSE_INVALID, "domain.memory.guest",
			  "is '%.60s', less than a mebibyte: that is 'Mi'; 'm' is a thousandth",
			  check_shown(c, "domain.memory.guest"));
	}
}

/* Guest memory is whole pages, or the last of them would be held and not used. */
static void check_pages(const struct check *c, const char *field, int64_t page)
{
	struct quantity q;
	int64_t bytes;

	if (!check_positive(c, field, &q) || quantity_value(&q, &bytes) < 0)
		return;
	if (bytes < page)
		check_add(c, CAUSE_INVALID, field, "is '%.60s', must be at least one page of %s",
			  check_shown(c, field), check_shown(c, PAGE_SIZE_FIELD));
	else if (bytes % page)
		check_add(c, CAUSE_INVALID, field,
			  "is '%.60s', must be a multiple of the page size, %s",
			  check_shown(c, field), check_shown(c, PAGE_SIZE_FIELD));
}

static void check_hugepages(const struct check *c)
{
	struct quantity page, guest, request;
	bool requested = check_positive(c, REQUESTS "memory", &request);
	int64_t bytes;

	if (!json_get(c->spec, "domain.memory.hugepages"))
		return;
	if (!json_get(c->spec, PAGE_SIZE_FIELD)) {
		check_add(c, CAUSE_REQUIRED, PAGE_SIZE_FIELD, "is missing: say 2Mi or 1Gi");
		return;
	}
	if (quantity_from_json(json_get(c->spec, PAGE_SIZE_FIELD), &page, NULL) < 0 ||
	    quantity_value(&page, &bytes) < 0 || !plan_hugepage_known((uint64_t)bytes)) {
		check_add(c, CAUSE_INVALID, PAGE_SIZE_FIELD, "is '%.60s', must be 2Mi or 1Gi",
			  check_shown(c, PAGE_SIZE_FIELD));
		return;
	}
	/* a request that became the guest's memory is reported where it was written */
	if (requested)
		check_pages(c, REQUESTS "memory", bytes);
	if (check_get(c, "domain.memory.guest", &guest) &&
	    !(requested && quantity_cmp(&guest, &request) == 0))
		check_pages(c, "domain.memory.guest", bytes);
}

static void check_numa(const struct check *c)
{
	if (!json_get(c->spec, NUMA_FIELD))
		return;
	if (!json_flag(c->spec, DEDICATED_FIELD, false))
		check_add(c, CAUSE_INVALID, NUMA_FIELD,
			  "needs dedicatedCpuPlacement: true: the guest's nodes are those of its "
			  "CPUs");
	if (!json_get(c->spec, "domain.memory.hugepages"))
		check_add(c, CAUSE_INVALID, NUMA_FIELD,
			  "needs memory.hugepages: each of the guest's nodes is whole pages");
}

static void check_realtime(const struct check *c)
{
	uint64_t vcpus = json_u64(c->spec, "domain.cpu.sockets", 1) *
			 json_u64(c->spec, "domain.cpu.cores", 1) *
			 json_u64(c->spec, "domain.cpu.threads", 1);
	struct err why = {0};
	cpu_set_t mask;

	if (!json_get(c->spec, REALTIME_FIELD))
		return;
	if (!json_flag(c->spec, DEDICATED_FIELD, false))
		check_add(c, CAUSE_REQUIRED, DEDICATED_FIELD,
			  "must be true with cpu.realtime: such a vCPU lets nobody else run");
	if (!json_get(c->spec, NUMA_FIELD))
		check_add(
			c, CAUSE_REQUIRED, NUMA_FIELD,
			"must be there with cpu.realtime: say numa: {guestMappingPassthrough: {}}");
	if (vcpus <= PLAN_MAX_VCPUS && /* else that is reported */
	    vcpumask_parse(json_str(c->spec, REALTIME_FIELD ".mask"), (unsigned)vcpus, &mask,
			   &why) < 0)
		check_add(c, CAUSE_INVALID, REALTIME_FIELD ".mask", "%s", why.msg);
}

void check_memory(const struct check *c)
{
	check_guest(c);
	check_hugepages(c);
	check_numa(c);
	check_realtime(c);
}
