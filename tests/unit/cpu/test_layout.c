// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cpu/machine.h"

#include "cpu/layout.h"

#define INTERLEAVED "pack:1 core:4 pu:2(indexes=0,4,1,5,2,6,3,7)"

static bool lay(const char *description, const char *list, struct cpu_demand demand,
		struct cpu_assignment *ret)
{
	cpu_set_t set = cpus(list);
	struct cpu_topology t;

	machine(description, &t);
	demand.total = demand.vcpus + demand.io + demand.emulator;
	assert_int_equal(demand.total, CPU_COUNT(&set));
	return cpu_lay_out(&t, &set, &demand, ret);
}

#define assert_vcpus(a, ...)                                                                       \
	do {                                                                                       \
		const int _want[] = {__VA_ARGS__};                                                 \
		assert_int_equal((a).n_vcpus, sizeof _want / sizeof _want[0]);                     \
		assert_memory_equal((a).vcpu, _want, sizeof _want);                                \
	} while (0)

static void single_threads_fill_both_siblings(void **state)
{
	struct cpu_assignment a;

	(void)state;
	assert_true(lay(INTERLEAVED, "1-2,5-6", (struct cpu_demand){.threads = 1, .vcpus = 4}, &a));
	assert_vcpus(a, 1, 5, 2, 6);
	assert_cpus(a.emulator, "");
	assert_cpus(a.all, "1-2,5-6");
}

static void guest_siblings_on_host_siblings(void **state)
{
	struct cpu_assignment a;

	(void)state;
	/* core 0 gives one thread only: the pairs are 1,5 and 2,6 */
	assert_true(lay(INTERLEAVED, "1-2,4-6",
			(struct cpu_demand){.threads = 2, .vcpus = 4, .emulator = 1}, &a));
	assert_vcpus(a, 1, 5, 2, 6);
	assert_cpus(a.emulator, "4");
}

static void no_pair_across_cores(void **state)
{
	struct cpu_assignment a = {.n_vcpus = 9};

	(void)state;
	assert_false(lay(INTERLEAVED, "1-4", (struct cpu_demand){.threads = 2, .vcpus = 4}, &a));
	assert_false(lay("pack:1 core:4 pu:1", "0-1", (struct cpu_demand){.threads = 2, .vcpus = 2},
			 &a));
	assert_int_equal(a.n_vcpus, 9);
}

static void single_threads_come_from_broken_cores_first(void **state)
{
	struct cpu_assignment a;

	(void)state;
	/* pairs from cores 0-3 and 4-7: 4 and 5 go to a vCPU pair, 8 is loose from the start, the
	   rest of core 0 still holds a pair and is used last */
	assert_true(lay("pack:1 core:3 pu:4", "0-2,4-6,8",
			(struct cpu_demand){.threads = 2, .vcpus = 4, .io = 2, .emulator = 1}, &a));
	assert_vcpus(a, 0, 1, 4, 5);
	assert_int_equal(a.n_io, 2);
	assert_int_equal(a.io[0], 8);
	assert_int_equal(a.io[1], 2);
	assert_cpus(a.emulator, "6");
	assert_true(lay("pack:1 core:2 pu:4", "0-4",
			(struct cpu_demand){.threads = 2, .vcpus = 2, .io = 2, .emulator = 1}, &a));
	assert_vcpus(a, 0, 1);
	assert_int_equal(a.io[0], 4);
	assert_int_equal(a.io[1], 2);
	assert_cpus(a.emulator, "3");
}

static void node_by_node(void **state)
{
	struct cpu_assignment a;

	(void)state;
	/* even CPUs on node 0, odd ones on node 1 */
	assert_true(lay("pack:2 numa:1 core:2 pu:1(indexes=0,2,1,3)", "0-3",
			(struct cpu_demand){.threads = 1, .vcpus = 2, .io = 1, .emulator = 1}, &a));
	assert_vcpus(a, 0, 2);
	assert_int_equal(a.io[0], 1);
	assert_cpus(a.emulator, "3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_threads_fill_both_siblings),
		cmocka_unit_test(guest_siblings_on_host_siblings),
		cmocka_unit_test(no_pair_across_cores),
		cmocka_unit_test(single_threads_come_from_broken_cores_first),
		cmocka_unit_test(node_by_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
