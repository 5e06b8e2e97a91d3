// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "cmd/verdict.h"

#include "lib/json.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goes_on), cmocka_unit_test(test_ended),
		cmocka_unit_test(test_failed),	cmocka_unit_test(test_refused),
		cmocka_unit_test(test_why),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
