// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cpu/machine.h"

#include <errno.h>
#include <string.h>

static void reserved_must_exist(void **state)
{
	struct cpu_policy policy = {.reserved = cpus("0,7-9")};
	struct cpu_topology t;
	struct err err = {0};

	(void)state;
	machine("pack:1 core:4 pu:2", &t);
	assert_int_equal(cpu_policy_check(&policy, &t, &err), -EINVAL);
	assert_string_equal(err.msg, "reservedSystemCPUs: 8-9 is not online on this host; choose "
				     "from 0-7");
	policy.reserved = cpus("0,7");
	assert_int_equal(cpu_policy_check(&policy, &t, NULL), 0);
}

static void reserve_more_than_there_is(void **state)
{
	cpu_set_t got = cpus("5");
	struct cpu_topology t;
	struct err err = {0};

	(void)state;
	machine("pack:1 core:2 pu:2", &t);
	assert_int_equal(cpu_reserve_count(&t, 5, &got, &err), -ERANGE);
	assert_string_equal(err.msg, "5 CPUs to reserve, but this host has 4: reserve fewer");
	assert_cpus(got, "5");
	assert_int_equal(cpu_reserve_count(&t, 0, &got, NULL), 0);
	assert_cpus(got, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reserved_must_exist),
		cmocka_unit_test(reserve_more_than_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
