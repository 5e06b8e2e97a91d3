// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "cmd/verdict.h"

#include "lib/json.h"
#include "lib/util.h"

static struct verdict judge(const char *text, json_t **ret_vmi)
{
	struct verdict v = {0};
	json_error_t error;

	*ret_vmi = json_loads(text, 0, &error);
	assert_non_null(*ret_vmi);
	verdict_of(*ret_vmi, &v);
	return v;
}

static void check(const char *text, enum verdict_state state, enum exit_code code,
		  const char *message)
{
	_cleanup_json_ json_t *vmi = NULL;
	struct verdict v = judge(text, &vmi);

	assert_int_equal(v.state, state);
	assert_int_equal(v.code, code);
	assert_string_equal(v.message, message);
}

static void test_goes_on(void **state)
{
	_cleanup_json_ json_t *vmi = NULL;
	struct verdict v = judge("{\"status\": {\"phase\": \"Running\","
				 "\"virtpod.io/startMicroseconds\": {\"total\": 250000}}}",
				 &vmi);

	(void)state;
	assert_int_equal(v.state, VERDICT_GOES_ON);
	assert_string_equal(v.phase, "Running");
	assert_true(v.started_seconds > 0.2 && v.started_seconds < 0.3);
	check("{}", VERDICT_GOES_ON, EXIT_DONE, "");
	check("{\"status\": {\"phase\": \"Scheduling\"}}", VERDICT_GOES_ON, EXIT_DONE, "");
	/* False for another reason than a refusal */
	check("{\"status\": {\"phase\": \"Pending\", \"conditions\": [{\"type\": \"Synchronized\","
	      "\"status\": \"False\", \"reason\": \"ErrImagePull\", \"message\": \"m\"}]}}",
	      VERDICT_GOES_ON, EXIT_DONE, "");
}

static void test_ended(void **state)
{
	(void)state;
	check("{\"status\": {\"phase\": \"Succeeded\", \"reason\": \"Shutdown\"}}", VERDICT_ENDED,
	      EXIT_DONE, "the guest shut down");
	check("{\"status\": {\"phase\": \"Succeeded\", \"reason\": \"Killed\"}}", VERDICT_ENDED,
	      EXIT_DONE, "killed on request");
	check("{\"metadata\": {\"deletionTimestamp\": \"2026-11-30T15:04:05Z\"},"
	      "\"status\": {\"phase\": \"Failed\", \"reason\": \"Killed\"}}",
	      VERDICT_ENDED, EXIT_DONE, "did not shut down within its grace period and was killed");
}

static void test_failed(void **state)
{
	(void)state;
	/* nobody asked for it */
	check("{\"status\": {\"phase\": \"Failed\", \"reason\": \"Killed\"}}", VERDICT_ENDED,
	      EXIT_FAILED, "Killed");
	/* a crash stays one, deleted or not */
	check("{\"metadata\": {\"deletionTimestamp\": \"2026-11-30T15:04:05Z\"},"
	      "\"status\": {\"phase\": \"Failed\", \"reason\": \"Crashed\", \"conditions\": ["
	      "{\"type\": \"Ready\", \"status\": \"False\", \"message\": \"signal 11\"}]}}",
	      VERDICT_ENDED, EXIT_FAILED, "signal 11");
	check("{\"status\": {\"phase\": \"Failed\", \"conditions\": [{\"type\": \"Synchronized\","
	      "\"status\": \"False\", \"reason\": \"x\", \"message\": \"no image\"}]}}",
	      VERDICT_ENDED, EXIT_FAILED, "no image");
}

static void test_refused(void **state)
{
	(void)state;
	check("{\"status\": {\"phase\": \"Pending\", \"conditions\": [{\"type\": \"PodScheduled\","
	      "\"status\": \"False\", \"reason\": \"Unschedulable\", \"message\": \"2 CPUs\"}]}}",
	      VERDICT_REFUSED, EXIT_REFUSED, "2 CPUs");
	check("{\"status\": {\"phase\": \"Pending\", \"conditions\": [{\"type\": \"Synchronized\","
	      "\"status\": \"False\", \"reason\": \"FailedCreate\", \"message\": \"no KVM\"}]}}",
	      VERDICT_REFUSED, EXIT_REFUSED, "no KVM");
	check("{\"status\": {\"phase\": \"Pending\", \"conditions\": [{\"type\": \"PodScheduled\","
	      "\"status\": \"True\", \"reason\": \"Unschedulable\"}]}}",
	      VERDICT_GOES_ON, EXIT_DONE, "");
}

static void why(const char *text, const char *wanted_reason, const char *wanted_message)
{
	_cleanup_json_ json_t *object = json_loads(text, 0, NULL);
	const char *reason = NULL, *message = NULL;

	assert_non_null(object);
	verdict_why(object, &reason, &message);
	assert_string_equal(reason, wanted_reason);
	assert_string_equal(message, wanted_message);
}

static void test_why(void **state)
{
	(void)state;
	why("{}", "", "");
	why("{\"status\": {\"phase\": \"Running\", \"conditions\": [{\"type\": \"PodScheduled\","
	    "\"status\": \"True\", \"reason\": \"r\", \"message\": \"m\"}]}}",
	    "", "");
	why("{\"status\": {\"phase\": \"Pending\", \"conditions\": [{\"type\": \"PodScheduled\","
	    "\"status\": \"False\", \"reason\": \"Unschedulable\", \"message\": \"2 CPUs\"}]}}",
	    "Unschedulable", "2 CPUs");
	why("{\"status\": {\"phase\": \"Failed\", \"reason\": \"FailedStart\", \"conditions\": ["
	    "{\"type\": \"Synchronized\", \"status\": \"False\", \"reason\": \"x\","
	    "\"message\": \"disk in use\"}]}}",
	    "FailedStart", "disk in use");
	why("{\"status\": {\"phase\": \"Succeeded\", \"reason\": \"Shutdown\"}}", "Shutdown",
	    "the guest shut down");
	/* a VirtualMachine: no phase; its own condition goes before those of its VMI */
	why("{\"status\": {\"printableStatus\": \"Starting\", \"conditions\": ["
	    "{\"type\": \"Synchronized\", \"status\": \"False\", \"reason\": \"a\","
	    "\"message\": \"b\"}, {\"type\": \"Failure\", \"status\": \"True\","
	    "\"reason\": \"FailedCreate\", \"message\": \"not its VMI\"}]}}",
	    "FailedCreate", "not its VMI");
}

static void test_why_terminating(void **state)
{
	(void)state;
	why("{\"metadata\": {\"deletionTimestamp\": \"2026-11-30T15:04:05Z\"},"
	    "\"status\": {\"phase\": \"Running\"}}",
	    "Terminating", "it is being deleted");
	why("{\"metadata\": {\"deletionTimestamp\": \"2026-11-30T15:04:05Z\"},"
	    "\"status\": {\"phase\": \"Succeeded\", \"reason\": \"Shutdown\"}}",
	    "Shutdown", "the guest shut down");
}

static void text_is(const char *object, const char *wanted)
{
	_cleanup_json_ json_t *o = json_loads(object, 0, NULL);
	_cleanup_free_ char *text = verdict_text(o);

	assert_non_null(o);
	assert_string_equal(text, wanted);
}

static void test_text(void **state)
{
	(void)state;
	text_is("{}", "");
	text_is("{\"status\": {\"phase\": \"Running\"}}", "Running");
	text_is("{\"status\": {\"printableStatus\": \"Stopped\"}}", "Stopped");
	text_is("{\"status\": {\"phase\": \"Failed\", \"reason\": \"FailedStart\", \"conditions\": "
		"["
		"{\"type\": \"Synchronized\", \"status\": \"False\", \"reason\": \"x\","
		"\"message\": \"disk in use\"}]}}",
		"Failed: FailedStart: disk in use");
}

static void kill_in(const char *meta, const char *rest, time_t now, long wanted)
{
	_cleanup_free_ char *text = xasprintf("{\"metadata\": {%s}, %s}", meta, rest);
	_cleanup_json_ json_t *o = json_loads(text, 0, NULL);

	assert_non_null(o);
	assert_int_equal(verdict_kill_in(o, now), wanted);
}

/* deletionTimestamp is when it was asked for. */
static void test_kill_in(void **state)
{
	const char *asked = "\"deletionTimestamp\": \"1970-01-01T00:01:40Z\"";
	const char *running = "\"status\": {\"phase\": \"Running\"}";

	(void)state;
	kill_in("", running, 100, -1);
	kill_in(asked, "\"status\": {\"phase\": \"Pending\"}", 100, -1);
	kill_in(asked, running, 101, 29);
	kill_in(asked, running, 1000, 0);
	kill_in(asked,
		"\"spec\": {\"terminationGracePeriodSeconds\": 90},"
		"\"status\": {\"phase\": \"Running\"}",
		100, 90);
	kill_in(asked,
		"\"spec\": {\"template\": {\"spec\": {\"terminationGracePeriodSeconds\": 60}}},"
		"\"status\": {\"ready\": true}",
		100, 60);
	kill_in("\"deletionTimestamp\": \"1970-01-01T00:01:40Z\", \"deletionGracePeriodSeconds\": "
		"5",
		running, 100, 5);
	kill_in("\"deletionTimestamp\": \"1970-01-01T00:01:40Z\", \"deletionGracePeriodSeconds\": "
		"0",
		running, 100, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goes_on), cmocka_unit_test(test_ended),
		cmocka_unit_test(test_failed),	cmocka_unit_test(test_refused),
		cmocka_unit_test(test_why),	cmocka_unit_test(test_why_terminating),
		cmocka_unit_test(test_text),	cmocka_unit_test(test_kill_in),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
