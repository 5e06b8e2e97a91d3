// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "handler/reconcile.h"

/* The whole table: every state, for an object that lives, has ended, is deleted, or both. */
static void test_table(void **state)
{
	static const struct {
		enum observed observed;
		enum action lives, ended, deleted, deleted_ended;
	} rows[] = {
		{OBSERVED_NOTHING, ACTION_START, ACTION_NONE, ACTION_REMOVE, ACTION_REMOVE},
		{OBSERVED_STARTING, ACTION_NONE, ACTION_NONE, ACTION_SHUTDOWN, ACTION_SHUTDOWN},
		{OBSERVED_RUNNING, ACTION_NONE, ACTION_NONE, ACTION_SHUTDOWN, ACTION_SHUTDOWN},
		{OBSERVED_STOPPING, ACTION_NONE, ACTION_NONE, ACTION_SHUTDOWN, ACTION_SHUTDOWN},
		{OBSERVED_UNDOING, ACTION_NONE, ACTION_NONE, ACTION_NONE, ACTION_NONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		enum observed o = rows[i].observed;

		assert_int_equal(reconcile_next(false, false, o), rows[i].lives);
		assert_int_equal(reconcile_next(false, true, o), rows[i].ended);
		assert_int_equal(reconcile_next(true, false, o), rows[i].deleted);
		assert_int_equal(reconcile_next(true, true, o), rows[i].deleted_ended);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
