// SPDX-License-Identifier: Apache-2.0
/* However many CPUs and holders there are, a refusal fits an error and ends with the cure. */
#include "tests/unit/cpu/machine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cpu/refusal.h"

#define N_HOLDERS 200

static struct cpu_topology topology;
static struct cpu_policy policy;
static struct cpu_holder holders[N_HOLDERS];
static char names[N_HOLDERS][300];

/* Names as long as Kubernetes lets them be, each holder with 2 CPUs far apart. */
static struct cpu_refusal crowded(enum cpu_verdict verdict, bool for_now)
{
	struct cpu_refusal r = {
		.topology = &topology,
		.policy = &policy,
		.holders = holders,
		.n_holders = N_HOLDERS,
		.demand = {.threads = 2, .vcpus = 510, .io = 512, .emulator = 2, .total = 1024},
		.verdict = verdict,
		.for_now = for_now};

	machine("pack:4 numa:16 core:8 pu:2", &topology);
	CPU_ZERO(&policy.reserved);
	CPU_ZERO(&r.allocatable);
	CPU_ZERO(&r.free);
	for (int i = 0; i < 1024; i += 2) {
		CPU_SET(i, &policy.reserved);
		CPU_SET(i + 1, &r.allocatable);
		if (i % 3)
			CPU_SET(i + 1, &r.free);
	}
	for (int i = 0; i < N_HOLDERS; i++) {
		memset(names[i], 'x', sizeof names[i] - 1);
		holders[i].name = names[i];
		CPU_ZERO(&holders[i].cpus);
		for (int j = 0; j < 100; j++)
			CPU_SET((i * 6 + j * 10 + 1) % 1024, &holders[i].cpus);
	}
	return r;
}

static void always_ends_with_the_cure(void **state)
{
	static const char *const cures[] = {
		[CPU_REFUSED_POLICY] = "leave out dedicatedCpuPlacement",
		[CPU_REFUSED_COUNT] = "fewer",
		[CPU_REFUSED_ALIGNMENT] = "the rest of the core",
		[CPU_REFUSED_CORES] = "(reservedSystemCPUs)",
		[CPU_REFUSED_NUMA] = "topologyManagerPolicy",
		[CPU_REFUSED_SIBLINGS] = "spec.domain.cpu.threads to 1"};

	(void)state;
	for (unsigned v = CPU_REFUSED_POLICY; v <= CPU_REFUSED_SIBLINGS; v++) {
		struct cpu_refusal r = crowded(v, /* for_now= */ false);
		struct err err = {0};
		size_t tail = strlen(cures[v]);

		if (v == CPU_REFUSED_COUNT)
			r.for_now = true;
		assert_int_equal(cpu_refuse(&r, &err), v == CPU_REFUSED_COUNT ? -EBUSY : -ENOTSUP);
		assert_true(strlen(err.msg) < 890);
		assert_null(strchr(err.msg, '\n'));
		assert_string_equal(err.msg + strlen(err.msg) - tail, cures[v]);
		assert_non_null(strstr(err.msg, " more; "));
	}
}

static void lists_are_cut_behind_a_number(void **state)
{
	struct cpu_refusal r = crowded(CPU_REFUSED_COUNT, /* for_now= */ true);
	struct err err = {0};

	(void)state;
	r.n_holders = 0;
	assert_int_equal(cpu_refuse(&r, &err), -EBUSY);
	assert_string_equal(
		err.msg,
		"1024 CPUs wanted (510 vCPUs, 512 for IO threads, 2 for the emulator), "
		"341 free (3,5,9,11,15,17,21,23,27,29,33,35,39,41,45,47,51,53,57,59,63,"
		"65,69,71,75,...) of 1024 online, reserved CPUs 0,2,4,6,8,10,12,14,16,18,20,"
		"22,24,26,28,30,32,34,36,38,40,42,44,46,48,50,..., held by nobody; stop a "
		"VM that holds CPUs or ask for fewer");
}

static void first_holders_then_how_many_more(void **state)
{
	struct cpu_refusal r = crowded(CPU_REFUSED_COUNT, /* for_now= */ true);
	char text[64];
	struct err err = {0};
	unsigned shown = 0;

	(void)state;
	for (int i = 0; i < N_HOLDERS; i++) {
		(void)snprintf(names[i], sizeof names[i], "default/vm-%d", i);
		CPU_ZERO(&holders[i].cpus);
		CPU_SET(i, &holders[i].cpus);
	}
	assert_int_equal(cpu_refuse(&r, &err), -EBUSY);
	while (snprintf(text, sizeof text, " by 'default/vm-%u': %u", shown, shown) > 0 &&
	       strstr(err.msg, text))
		shown++;
	assert_true(shown >= 3 && shown < N_HOLDERS);
	(void)snprintf(text, sizeof text, " and %u more; stop", N_HOLDERS - shown);
	assert_non_null(strstr(err.msg, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(always_ends_with_the_cure),
		cmocka_unit_test(lists_are_cut_behind_a_number),
		cmocka_unit_test(first_holders_then_how_many_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
