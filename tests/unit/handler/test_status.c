// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "handler/status.h"

#include "lib/json.h"

#include <errno.h>
#include <string.h>

static const char *condition(const json_t *status, const char *type, const char *member)
{
	return json_str(status_condition(status, type), member);
}

static void test_phases(void **state)
{
	_cleanup_json_ json_t *vmi = json_object();
	_cleanup_json_ json_t *s = status_new(vmi);

	(void)state;
	assert_string_equal(json_str(s, "phase"), "Pending");
	assert_string_equal(condition(s, "Ready", "reason"), "PodNotExists");
	status_set_phase(s, "Scheduling");
	status_set_phase(s, "Scheduling"); /* no second transition */
	status_set_phase(s, "Running");
	assert_string_equal(condition(s, "Ready", "status"), "True");
	assert_int_equal(json_array_size(json_object_get(s, "phaseTransitionTimestamps")), 3);
	assert_string_equal(json_str(s, "phaseTransitionTimestamps[1].phase"), "Scheduling");
	assert_false(status_is_final(s));
}

static void test_condition_transition(void **state)
{
	_cleanup_json_ json_t *s = json_object();
	json_t *c;

	(void)state;
	status_set_condition(s, "Paused", "True", "PausedByUser", "text");
	c = json_array_get(json_object_get(s, "conditions"), 0);
	(void)json_object_set_new(c, "lastTransitionTime", json_string("then"));
	status_set_condition(s, "Paused", "True", "Other", NULL);
	assert_string_equal(json_str(c, "lastTransitionTime"), "then");
	assert_string_equal(json_str(c, "reason"), "Other");
	assert_null(json_str(c, "message"));
	status_set_condition(s, "Paused", "False", NULL, NULL);
	assert_string_not_equal(json_str(c, "lastTransitionTime"), "then");
	assert_int_equal(json_array_size(json_object_get(s, "conditions")), 1);
	status_remove_condition(s, "Paused");
	assert_null(status_condition(s, "Paused"));
}

/* Which end is which phase. */
static void test_outcomes(void **state)
{
	static const struct {
		enum outcome_kind kind;
		uint32_t grace;
		const char *phase;
	} rows[] = {
		{OUTCOME_SHUTDOWN, 30, "Succeeded"}, {OUTCOME_KILLED, 30, "Failed"},
		{OUTCOME_KILLED, 0, "Succeeded"},    {OUTCOME_CRASHED, 30, "Failed"},
		{OUTCOME_QEMU_FAILED, 0, "Failed"},  {OUTCOME_WATCHDOG, 30, "Failed"},
		{OUTCOME_NONE, 30, "Failed"},
	};
	const struct err none = {0};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		_cleanup_json_ json_t *s = json_object();
		const struct outcome o = {.kind = rows[i].kind, .message = "why"};

		status_set_phase(s, "Running");
		status_set_end(s, &o, &none, false, rows[i].grace);
		assert_string_equal(json_str(s, "phase"), rows[i].phase);
		assert_string_equal(json_str(s, "reason"), outcome_name(rows[i].kind));
		assert_string_equal(condition(s, "Ready", "message"), "why");
		assert_true(status_is_final(s));
	}
}

static void test_refused(void **state)
{
	_cleanup_json_ json_t *s = json_object();
	const struct outcome none = {0};
	struct err err = {0};

	(void)state;
	(void)err_set(&err, -EBUSY, "wanted 2, free 1");
	status_set_end(s, &none, &err, true, 30);
	assert_string_equal(json_str(s, "phase"), "Pending");
	assert_string_equal(condition(s, "PodScheduled", "reason"), "Unschedulable");
	assert_string_equal(condition(s, "PodScheduled", "message"), "wanted 2, free 1");
	assert_null(status_condition(s, "Synchronized"));

	err_clear(&err);
	(void)err_set(&err, -ENOENT, "no such network");
	status_set_end(s, &none, &err, true, 30);
	assert_string_equal(condition(s, "Synchronized", "reason"), "FailedCreate");
	assert_null(status_condition(s, "PodScheduled"));
	assert_false(status_is_final(s));
}

static void test_failed_start(void **state)
{
	_cleanup_json_ json_t *s = json_object();
	const struct outcome none = {0};
	struct err err = {0};

	(void)state;
	(void)err_set(&err, -EIO, "qemu: no");
	status_set_end(s, &none, &err, false, 30);
	assert_string_equal(json_str(s, "phase"), "Failed");
	assert_string_equal(condition(s, "Synchronized", "message"), "qemu: no");
}

/* A launcher's words, cut in the middle of a letter, still say what they say. */
static void test_no_utf8(void **state)
{
	_cleanup_json_ json_t *s = json_object();

	(void)state;
	status_set_condition(s, "Ready", "False", "Because", "caf\xc3\xa9");
	assert_string_equal(condition(s, "Ready", "message"), "caf\xc3\xa9");
	status_set_condition(s, "Ready", "False", "Because", "caf\xc3");
	assert_string_equal(condition(s, "Ready", "message"), "caf?");
	status_set_condition(s, "Ready", "False", "Because",
			     "a\xc2\x9b"
			     "2J\x1b[2J");
	assert_string_equal(condition(s, "Ready", "message"), "a 2J [2J");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_phases),	     cmocka_unit_test(test_condition_transition),
		cmocka_unit_test(test_outcomes),     cmocka_unit_test(test_refused),
		cmocka_unit_test(test_failed_start), cmocka_unit_test(test_no_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
