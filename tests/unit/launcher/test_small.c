// SPDX-License-Identifier: Apache-2.0
/* The small pure parts: ring, rate, tail, and how an end is classified. */
#include "tests/unit/unit.h"

#include "launcher/ending.h"
#include "launcher/rate.h"
#include "launcher/ring.h"
#include "launcher/tail.h"
#include "lib/util.h"

#include <signal.h>
#include <string.h>

/* Against the plain truth: the last RING_SIZE bytes of everything. */
static void test_ring(void **state)
{
	static struct ring r;
	static char all[RING_SIZE * 5];
	static const size_t lens[] = {1, 100, RING_SIZE - 50, 7, RING_SIZE, RING_SIZE * 2 + 3, 9};
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof all; i++)
		all[i] = (char)(i * 7 + i / 251);
	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		uint64_t pos;
		const char *p;

		ring_write(&r, all + n, lens[i]);
		n += lens[i];
		assert_int_equal(r.end, n);
		pos = ring_start(&r);
		assert_int_equal(pos, n > RING_SIZE ? n - RING_SIZE : 0);
		while (pos < r.end) {
			size_t len = ring_peek(&r, pos, &p);

			assert_true(len > 0);
			assert_memory_equal(p, all + pos, len);
			pos += len;
		}
		assert_int_equal(ring_peek(&r, r.end, &p), 0);
	}
}

static void test_rate(void **state)
{
	struct rate r = {.every_us = 100, .burst = 3};
	uint64_t t = 1000;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_true(rate_take(&r, t));
	assert_false(rate_take(&r, t));
	assert_false(rate_take(&r, t + 99));
	assert_true(rate_take(&r, t + 100));
	assert_false(rate_take(&r, t + 199));
	assert_true(rate_take(&r, t + 200)); /* fractions are not lost */
	for (int i = 0; i < 3; i++)
		assert_true(rate_take(&r, t + 1000000)); /* no more than the burst is saved up */
	assert_false(rate_take(&r, t + 1000000));
}

static void test_tail(void **state)
{
	struct tail t = {0};
	char big[TAIL_SIZE + 10], out[TAIL_SIZE * 2], small[8];

	(void)state;
	tail_text(&t, out, sizeof out);
	assert_string_equal(out, "");
	tail_add(&t, "one\n", 4);
	tail_add(&t, "two\033[1m\n", 8);
	tail_text(&t, out, sizeof out);
	assert_string_equal(out, "one; two?[1m");
	tail_text(&t, small, sizeof small);
	assert_string_equal(small, "two?[1m");
	memset(big, 'x', sizeof big);
	tail_add(&t, big, sizeof big);
	tail_add(&t, "end", 3);
	tail_text(&t, out, sizeof out);
	assert_int_equal(strlen(out), TAIL_SIZE);
	assert_string_equal(out + TAIL_SIZE - 4, "xend");
}

static enum outcome_kind kind_of(struct ending e)
{
	struct outcome o;

	ending_classify(&e, &o);
	assert_true(o.message[0]);
	assert_null(strchr(o.message, '\n'));
	return o.kind;
}

static void test_endings(void **state)
{
	(void)state;
#define END(...) kind_of((struct ending){__VA_ARGS__})
	/* the guest's own doing */
	assert_int_equal(END(.started = true, .reason = "guest-shutdown"), OUTCOME_SHUTDOWN);
	assert_int_equal(END(.started = true, .asked = true, .reason = "guest-shutdown"),
			 OUTCOME_SHUTDOWN);
	/* it was faster than our SIGTERM */
	assert_int_equal(END(.started = true, .sent = SIGTERM, .reason = "guest-shutdown"),
			 OUTCOME_SHUTDOWN);
	assert_int_equal(END(.started = true, .reason = "guest-panic"), OUTCOME_CRASHED);
	assert_int_equal(END(.started = true, .panicked = true, .reason = "guest-shutdown"),
			 OUTCOME_CRASHED);
	assert_int_equal(END(.started = true, .watchdog = true), OUTCOME_WATCHDOG);
	/* ours */
	assert_int_equal(END(.started = true, .sent = SIGTERM, .reason = "host-signal"),
			 OUTCOME_KILLED);
	assert_int_equal(
		END(.started = true, .sent = SIGKILL, .killed_by_sig = true, .status = SIGKILL),
		OUTCOME_KILLED);
	assert_int_equal(END(.sent = SIGKILL, .killed_by_sig = true, .status = SIGKILL),
			 OUTCOME_KILLED);
	/* somebody else's */
	assert_int_equal(END(.started = true, .reason = "host-signal"), OUTCOME_KILLED);
	assert_int_equal(END(.started = true, .killed_by_sig = true, .status = SIGKILL),
			 OUTCOME_CRASHED);
	assert_int_equal(END(.started = true, .killed_by_sig = true, .status = SIGABRT),
			 OUTCOME_CRASHED);
	assert_int_equal(
		END(.started = true, .sent = SIGTERM, .killed_by_sig = true, .status = SIGSEGV),
		OUTCOME_CRASHED);
	/* QEMU's */
	assert_int_equal(END(.status = 1), OUTCOME_QEMU_FAILED);
	assert_int_equal(END(.status = 0), OUTCOME_QEMU_FAILED);
	assert_int_equal(END(.started = true, .status = 1), OUTCOME_QEMU_FAILED);
	assert_int_equal(END(.killed_by_sig = true, .status = SIGSEGV), OUTCOME_QEMU_FAILED);
	assert_int_equal(END(.sent = SIGKILL, .failure = "QMP: nonsense", .killed_by_sig = true,
			     .status = SIGKILL),
			 OUTCOME_QEMU_FAILED);
}

static void test_ending_events(void **state)
{
	struct ending e = {0};
	struct outcome o;

	(void)state;
	ending_note_event(&e, "WATCHDOG", "reset");
	assert_false(e.watchdog);
	ending_note_event(&e, "WATCHDOG", "poweroff");
	assert_true(e.watchdog);
	ending_note_event(&e, "GUEST_PANICKED", "pause");
	assert_true(e.panicked);
	ending_note_event(&e, "RESET", NULL);
	assert_false(e.watchdog || e.panicked);
	ending_note_event(&e, "SHUTDOWN", NULL);
	assert_string_equal(e.reason, "");
	ending_note_event(&e, "SHUTDOWN", "a-reason-that-is-longer-than-any-that-qemu-has-today");
	assert_int_equal(strlen(e.reason), sizeof e.reason - 1);
	memset(e.words, 'w', sizeof e.words - 1);
	e.status = 1;
	e.started = true;
	ending_classify(&e, &o);
	assert_non_null(strstr(o.message, "exit status 1: www"));
	assert_int_equal(o.exit_status, 1);
	e.killed_by_sig = true;
	e.status = SIGSEGV;
	ending_classify(&e, &o);
	assert_int_equal(o.exit_status, -SIGSEGV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring),	      cmocka_unit_test(test_rate),
		cmocka_unit_test(test_tail),	      cmocka_unit_test(test_endings),
		cmocka_unit_test(test_ending_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
