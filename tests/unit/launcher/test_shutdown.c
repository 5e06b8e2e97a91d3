// SPDX-License-Identifier: Apache-2.0
/* No clock but the test's own: seconds below are arguments. */
#include "tests/unit/unit.h"

#include "launcher/shutdown.h"

#include <signal.h>
#include <string.h>

#define S 1000000ull

static char log_[256];

static void powerdown(void *arg)
{
	(void)arg;
	strcat(log_, "p");
}

static void send_signal(void *arg, int sig)
{
	(void)arg;
	strcat(log_, sig == SIGTERM ? "T" : sig == SIGKILL ? "K" : "?");
}

static const struct shutdown_ops ops = {powerdown, send_signal};

static struct shutdown fresh(void)
{
	log_[0] = 0;
	return (struct shutdown){.ops = &ops};
}

static void test_presses_then_term_then_kill(void **state)
{
	struct shutdown s = fresh();
	uint64_t t = 100 * S;

	(void)state;
	t = shutdown_begin(&s, t, 12 * S);
	assert_string_equal(log_, "p");
	assert_int_equal(t, 105 * S);
	t = shutdown_tick(&s, t);
	assert_int_equal(t, 110 * S);
	t = shutdown_tick(&s, t);
	assert_string_equal(log_, "ppp");
	assert_int_equal(t, 112 * S); /* the end of the grace period, before the next press */
	t = shutdown_tick(&s, t);
	assert_string_equal(log_, "pppT");
	assert_int_equal(t, 117 * S);
	t = shutdown_tick(&s, t);
	assert_string_equal(log_, "pppTK");
	assert_int_equal(t, SHUTDOWN_NEVER);
}

/* Woken too early, nothing happens twice. */
static void test_early_wakeups(void **state)
{
	struct shutdown s = fresh();

	(void)state;
	(void)shutdown_begin(&s, 0, 30 * S);
	for (uint64_t t = 0; t < 5 * S; t += S / 10)
		assert_int_equal(shutdown_tick(&s, t), 5 * S);
	assert_string_equal(log_, "p");
}

static void test_grace_0(void **state)
{
	struct shutdown s = fresh();

	(void)state;
	assert_int_equal(shutdown_begin(&s, 7 * S, 0), 12 * S);
	assert_string_equal(log_, "T");
	assert_int_equal(shutdown_tick(&s, 12 * S), SHUTDOWN_NEVER);
	assert_string_equal(log_, "TK");
}

static void test_second_request(void **state)
{
	struct shutdown s = fresh();

	(void)state;
	(void)shutdown_begin(&s, 0, 3600 * S);
	assert_int_equal(shutdown_begin(&s, 1 * S, 2 * S), 3 * S);    /* shorter */
	assert_int_equal(shutdown_begin(&s, 2 * S, 3600 * S), 3 * S); /* not longer */
	assert_string_equal(log_, "p");
	assert_int_equal(shutdown_tick(&s, 3 * S), 8 * S);
	/* SIGTERM is not sent again, and its time is not extended */
	assert_int_equal(shutdown_begin(&s, 4 * S, 0), 8 * S);
	assert_string_equal(log_, "pT");
}

static void test_kill(void **state)
{
	struct shutdown s = fresh();

	(void)state;
	(void)shutdown_begin(&s, 0, 3600 * S);
	assert_int_equal(shutdown_kill(&s, 1 * S), SHUTDOWN_NEVER);
	assert_int_equal(shutdown_begin(&s, 2 * S, 5 * S), SHUTDOWN_NEVER);
	assert_int_equal(shutdown_expect_exit(&s, 2 * S), SHUTDOWN_NEVER);
	assert_string_equal(log_, "pK");
}

/* The monitor is closed: QEMU gets its time to exit without a signal. */
static void test_expect_exit(void **state)
{
	struct shutdown s = fresh();

	(void)state;
	assert_int_equal(shutdown_expect_exit(&s, 10 * S), 15 * S);
	assert_string_equal(log_, "");
	assert_int_equal(shutdown_tick(&s, 15 * S), SHUTDOWN_NEVER);
	assert_string_equal(log_, "K");
}

static void test_endless_grace(void **state)
{
	struct shutdown s = fresh();

	(void)state;
	assert_int_equal(shutdown_begin(&s, 10 * S, UINT64_MAX), 15 * S);
	assert_string_equal(log_, "p");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_presses_then_term_then_kill),
		cmocka_unit_test(test_early_wakeups),
		cmocka_unit_test(test_grace_0),
		cmocka_unit_test(test_second_request),
		cmocka_unit_test(test_kill),
		cmocka_unit_test(test_expect_exit),
		cmocka_unit_test(test_endless_grace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
