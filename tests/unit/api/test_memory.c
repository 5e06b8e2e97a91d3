// SPDX-License-Identifier: Apache-2.0
/* Huge pages, NUMA and realtime: what is admitted, what it costs, and cells in a plan from outside. */
#include "tests/unit/unit.h"

#include <errno.h>

#include "api/default.h"
#include "api/overhead.h"
#include "api/plan.h"
#include "api/vcpumask.h"
#include "lib/cpus.h"
#include "tests/unit/api/objects.h"

#define MIB ((uint64_t)1 << 20)

/* --- masks ------------------------------------------------------------------------------------- */

static void masks(void **state)
{
	static const struct {
		const char *mask, *list; /* list NULL: refused */
	} cases[] = {
		{NULL, "0-3"},	     {"", "0-3"},	    {"0", "0"},
		{"1-2", "1-2"},	     {"3,1", "1,3"},	    {"0-3,^1", "0,2-3"},
		{"^1,0-3", "0,2-3"}, {"0-1,1-2", "0-2"},    {"4", NULL},
		{"0-4", NULL},	     {"^9,0", NULL},	    {"^1", NULL},
		{"0,^0", NULL},	     {"a", NULL},	    {"0,", NULL},
		{",0", NULL},	     {"2-1", NULL},	    {"-1", NULL},
		{"0-", NULL},	     {"^0-1,3", NULL},	    {"0 ", NULL},
		{"1,,2", NULL},	     {"99999999999", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[CPUS_TEXT_MAX];
		struct err err = {0};
		cpu_set_t set;
		int r = vcpumask_parse(cases[i].mask, 4, &set, &err);

		if (cases[i].list && r == 0)
			assert_string_equal(cpus_format(&set, text), cases[i].list);
		else if (cases[i].list || r != -EINVAL || !err.msg[0])
			fail_msg("'%s': %d %s", cases[i].mask, r, err.msg);
	}
}

/* --- admission --------------------------------------------------------------------------------- */

static void answers(const char *domain, const char *field, const char *words)
{
	_cleanup_free_ char *text = xasprintf(
		VMI_HEAD "  domain:\n    devices: {autoattachPodInterface: false}\n%s", domain);
	_cleanup_causes_ struct causes causes = {0};
	_cleanup_json_ json_t *vmi = json_of(text);
	const struct kind *kind;
	int r = admit(vmi, NULL, &kind, &causes);

	if (!field) {
		if (r < 0)
			fail_msg("%s: %s", causes.list[0].field, causes.list[0].message);
		return;
	}
	assert_int_equal(r, -EINVAL);
	assert_int_equal(causes.n, 1);
	assert_string_equal(causes.list[0].field, field);
	if (!strstr(causes.list[0].message, words))
		fail_msg("'%s' is not in: %s", words, causes.list[0].message);
}

static void pages(void **state)
{
	(void)state;
	answers("    memory: {guest: 64Mi, hugepages: {pageSize: 2Mi}}\n", NULL, NULL);
	answers("    memory: {guest: 64Mi, hugepages: {pageSize: 2048Ki}}\n", NULL, NULL);
	answers("    memory: {guest: 2Gi, hugepages: {pageSize: 1Gi}}\n", NULL, NULL);
	answers("    memory: {guest: 64Mi, hugepages: {}}\n",
		"spec.domain.memory.hugepages.pageSize", "say 2Mi or 1Gi");
	answers("    memory: {guest: 64Mi, hugepages: {pageSize: 4Mi}}\n",
		"spec.domain.memory.hugepages.pageSize", "'4Mi', must be 2Mi or 1Gi");
	answers("    memory: {guest: 64Mi, hugepages: {pageSize: 2M}}\n",
		"spec.domain.memory.hugepages.pageSize", "must be 2Mi or 1Gi");
	answers("    memory: {guest: 63Mi, hugepages: {pageSize: 2Mi}}\n",
		"spec.domain.memory.guest", "'63Mi', must be a multiple of the page size, 2Mi");
	answers("    memory: {guest: 512Mi, hugepages: {pageSize: 1Gi}}\n",
		"spec.domain.memory.guest", "at least one page of 1Gi");
	answers("    memory: {hugepages: {pageSize: 2Mi}}\n"
		"    resources: {requests: {memory: 63Mi}}\n",
		"spec.domain.resources.requests.memory", "'63Mi', must be a multiple");
	answers("    memory: {guest: 64Mi, hugepages: {pageSize: 2Mi}}\n"
		"    resources: {requests: {memory: 63Mi}}\n",
		"spec.domain.resources.requests.memory", "'63Mi', must be a multiple");
}

#define HUGE	  "    memory: {guest: 64Mi, hugepages: {pageSize: 2Mi}}\n"
#define DEDICATED "dedicatedCpuPlacement: true, cores: 2"
#define NUMA	  "numa: {guestMappingPassthrough: {}}"

static void numa_and_realtime(void **state)
{
	(void)state;
	answers(HUGE "    cpu: {" DEDICATED ", " NUMA "}\n", NULL, NULL);
	answers(HUGE "    cpu: {" NUMA "}\n", "spec.domain.cpu.numa.guestMappingPassthrough",
		"dedicatedCpuPlacement");
	answers("    memory: {guest: 64Mi}\n    cpu: {" DEDICATED ", " NUMA "}\n",
		"spec.domain.cpu.numa.guestMappingPassthrough", "hugepages");
	answers(HUGE "    cpu: {" DEDICATED ", " NUMA ", realtime: {}}\n", NULL, NULL);
	answers(HUGE "    cpu: {" DEDICATED ", " NUMA ", realtime: {mask: \"0-1,^0\"}}\n", NULL,
		NULL);
	answers(HUGE "    cpu: {" DEDICATED ", realtime: {}}\n",
		"spec.domain.cpu.numa.guestMappingPassthrough", "must be there");
	answers(HUGE "    cpu: {" DEDICATED ", " NUMA ", realtime: {mask: \"0-2\"}}\n",
		"spec.domain.cpu.realtime.mask", "the VM has 2");
}

/* --- what follows from it ---------------------------------------------------------------------- */

static void limit_is_beside_the_pool(void **state)
{
	_cleanup_json_ json_t *huge =
		admitted(VMI_HEAD "  domain:\n    devices: {autoattachPodInterface: false}\n"
				  "    memory: {guest: 64Mi, hugepages: {pageSize: 2Mi}}\n");
	_cleanup_json_ json_t *more = json_deep_copy(huge);

	(void)state;
	assert_int_equal(memory_hugepage(huge), 2 * MIB);
	assert_int_equal(memory_limit(huge, 32 * MIB), memory_overhead(huge) + 32 * MIB);
	(void)json_path_set(more, "spec.domain.resources.limits.memory", json_string("80Mi"));
	assert_int_equal(memory_limit(more, 0), memory_overhead(more) + 16 * MIB);
	(void)json_object_del(json_get(huge, "spec.domain.memory"), "hugepages");
	assert_int_equal(memory_limit(huge, 0), memory_overhead(huge) + 64 * MIB);
}

static void locked_stacks(void **state)
{
	_cleanup_json_ json_t *vmi =
		admitted(VMI_HEAD "  domain:\n    devices: {autoattachPodInterface: false}\n" HUGE
				  "    cpu: {" DEDICATED ", " NUMA ", realtime: {}}\n");

	(void)state;
	assert_int_equal(memory_locked(vmi), 0);
	assert_int_equal(memory_limit(vmi, 0), memory_overhead(vmi));
	(void)json_path_set(vmi, "spec.domain.devices.disks", json_pack("[{s:s}]", "name", "a"));
	assert_int_equal(memory_locked(vmi), 768 * MIB);
	assert_int_equal(memory_limit(vmi, 0), memory_overhead(vmi) + 768 * MIB);
	(void)json_object_del(json_get(vmi, "spec.domain.cpu"), "realtime");
	assert_int_equal(memory_locked(vmi), 0);
}

static void memory_hotplug_goes_by_the_page(void **state)
{
	static const struct {
		const char *guest, *page, *max;
	} cases[] = {{"1536Mi", "2Mi", "6Gi"}, {"1536Mi", "1Gi", NULL}, {"2Gi", "1Gi", "8Gi"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_json_ json_t *vmi =
			json_pack("{s:{s:s}, s:{s:{s:{s:s, s:{s:s}}}}}", "metadata", "name", "a",
				  "spec", "domain", "memory", "guest", cases[i].guest, "hugepages",
				  "pageSize", cases[i].page);

		vmi_default(vmi);
		if (!str_eq(json_str(vmi, "spec.domain.memory.maxGuest"), cases[i].max))
			fail_msg("%s in %s: %s", cases[i].guest, cases[i].page,
				 json_str(vmi, "spec.domain.memory.maxGuest"));
	}
}

/* --- cells ------------------------------------------------------------------------------------- */

/* Two cells on the realtime plan: 4 vCPUs, 1 GiB in pages of 2 MiB. */
static json_t *placed(void)
{
	json_t *ret = json_load_file("tests/unit/api/plan/realtime.json", 0, NULL);

	assert_non_null(ret);
	(void)json_path_set(ret, "cells",
			    json_pack("[{s:s, s:s, s:i, s:[i,i]}, {s:s, s:s, s:i, s:[i,i]}]",
				      "hostNodes", "0", "vcpus", "0,2", "memory", 600 << 20,
				      "distances", 10, 21, "hostNodes", "3", "vcpus", "1,3",
				      "memory", 424 << 20, "distances", 21, 10));
	(void)json_path_set(ret, "memoryNodes", json_string("0,3"));
	return ret;
}

static void cells_both_ways(void **state)
{
	_cleanup_json_ json_t *json = placed(), *again = NULL;
	struct plan *plan = NULL;
	struct err err = {0};

	(void)state;
	if (plan_from_json(json, &plan, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(plan->n_cells, 2);
	assert_int_equal(plan->cells[1].memory, 424 * MIB);
	assert_int_equal(plan->cells[0].distance[1], 21);
	again = plan_to_json(plan);
	assert_true(json_equal(json, again));
	plan_free(plan);
}

static void refused(const char *path, json_t *value, const char *msg)
{
	_cleanup_json_ json_t *json = placed();
	struct plan *plan = NULL;
	struct err err = {0};

	assert_int_equal(json_path_set(json, path, value), 0);
	assert_int_equal(plan_from_json(json, &plan, &err), -EBADMSG);
	assert_string_equal(err.msg, msg);
}

static void cells_out_of_bounds(void **state)
{
	static const char wrong[] = "plan: cells[1]: has a wrong member";
	json_t *many = json_array();

	(void)state;
	for (int i = 0; i <= PLAN_MAX_CELLS; i++)
		(void)json_array_append_new(many, json_object());
	refused("cells", many, "plan: cells: must be a list of at most 64");
	refused("cells", json_null(), "plan: cells: must be a list of at most 64");
	refused("cells[1]", json_integer(1), wrong);
	refused("cells[1].more", json_true(), wrong);
	refused("cells[1].hostNodes", json_string(""), wrong);
	refused("cells[1].hostNodes", json_string("1024"), wrong);
	refused("cells[1].hostNodes", json_string("0,share=on"), wrong);
	refused("cells[1].vcpus", json_null(), wrong);
	refused("cells[1].memory", json_integer(0), wrong);
	refused("cells[1].memory", json_string("1"), wrong);
	refused("cells[1].distances", json_pack("[i]", 10), wrong);
	refused("cells[1].distances[0]", json_integer(10), wrong);
	refused("cells[1].distances[0]", json_integer(255), wrong);
	refused("cells[1].distances[1]", json_integer(11), wrong);
}

static void cells_that_do_not_go_together(void **state)
{
	(void)state;
	refused("cells[1].memory", json_integer(426 << 20),
		"plan: cells: their memory is not memoryGuest");
	refused("cells[1].memory", json_integer((424 << 20) - 4096),
		"plan: cells[1].memory: not whole pages");
	refused("cells[1].vcpus", json_string("2-3"),
		"plan: cells[1].vcpus: not the VM's, or twice");
	refused("cells[1].vcpus", json_string("1,3-4"),
		"plan: cells[1].vcpus: not the VM's, or twice");
	refused("cells[1].vcpus", json_string("1"), "plan: cells: do not have all vCPUs");
	refused("numaPassthrough", json_false(), "plan: cells: several go with numaPassthrough");
	refused("hugepageSize", json_integer(0), "plan: memoryLimit: is less than memoryGuest");
	refused("hugepageSize", json_integer(4096),
		"plan: hugepageSize: memoryGuest must be whole pages");
	refused("dedicatedCpus", json_false(),
		"plan: numaPassthrough: goes with dedicatedCpus and hugepageSize");
	refused("realtimeVcpus", json_string("4"),
		"plan: realtimeVcpus: must be the VM's dedicated ones");
	refused("realtimeVcpus", json_string(""), "plan: realtimeVcpus: has a wrong type or value");
	refused("memoryNodes", json_string("x"), "plan: memoryNodes: has a wrong type or value");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(masks),
		cmocka_unit_test(pages),
		cmocka_unit_test(numa_and_realtime),
		cmocka_unit_test(limit_is_beside_the_pool),
		cmocka_unit_test(locked_stacks),
		cmocka_unit_test(memory_hotplug_goes_by_the_page),
		cmocka_unit_test(cells_both_ways),
		cmocka_unit_test(cells_out_of_bounds),
		cmocka_unit_test(cells_that_do_not_go_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
