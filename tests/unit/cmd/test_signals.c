// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "cmd/signals.h"

static void test_echo(void **state)
{
	uint64_t last = 0;

	(void)state;
	assert_true(signals_counts(&last, 7)); /* soon after the boot, too */
	assert_false(signals_counts(&last, 7));
	assert_false(signals_counts(&last, 7 + 499999));
	/* measured from the one that counted: who presses on and on is heard in the end */
	assert_true(signals_counts(&last, 7 + 500000));
	assert_false(signals_counts(&last, 7 + 500001));
	assert_true(signals_counts(&last, 60000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_echo),
	};

	return cmocka_run_group_tests_name("signals", tests, NULL, NULL);
}
