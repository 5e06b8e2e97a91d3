// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "api/wire.h"
#include "launcher/forward.h"
#include "lib/json.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static sd_event *event;
static struct forward *forward;
static int sent, refuse;
static json_t *last;

static int on_send(void *arg, const json_t *e)
{
	(void)arg;
	if (refuse)
		return -EAGAIN;
	sent++;
	json_decref(last);
	last = json_deep_copy(e);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	sent = refuse = 0;
	assert_true(sd_event_new(&event) >= 0);
	assert_int_equal(forward_new(event, on_send, NULL, &forward), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	forward_free(forward);
	event = sd_event_unref(event);
	json_decref(last);
	last = NULL;
	return 0;
}

static json_t *number(int i)
{
	return json_pack("{s:i}", "i", i);
}

/* A storm is cut down, and its last event arrives all the same. */
static void test_storm(void **state)
{
	int at_once;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		_cleanup_json_ json_t *data = number(i);

		forward_event(forward, "RESET", data);
	}
	at_once = sent;
	assert_true(at_once >= 5 && at_once <= 50);
	forward_event(forward, "SHUTDOWN", NULL); /* other kinds do not wait for it */
	assert_int_equal(sent, at_once + 1);
	assert_string_equal(json_str(last, "name"), "SHUTDOWN");
	while (sent < at_once + 2)
		assert_true(sd_event_run(event, 10000000) > 0);
	assert_int_equal(json_u64(last, "data.i", 0), 9999);
	assert_int_equal(json_u64(last, "dropped", 0), 10000 - at_once - 1);
}

static void test_nobody_there(void **state)
{
	_cleanup_json_ json_t *data = number(7);

	(void)state;
	refuse = 1;
	forward_event(forward, "STOP", data);
	assert_int_equal(sent, 0);
	refuse = 0;
	while (sent < 1)
		assert_true(sd_event_run(event, 10000000) > 0);
	assert_int_equal(json_u64(last, "data.i", 0), 7);
	assert_int_equal(json_u64(last, "dropped", 0), 0);
}

static void test_only_what_the_handler_wants(void **state)
{
	(void)state;
	forward_event(forward, "RTC_CHANGE", NULL);
	assert_int_equal(sent, 0);
}

static void test_large_data_is_left_out(void **state)
{
	_cleanup_json_ json_t *data = json_object();
	_cleanup_free_ char *big = xcalloc(1, WIRE_MAX + 1);

	(void)state;
	memset(big, 'x', WIRE_MAX);
	(void)json_object_set_new(data, "x", json_string(big));
	forward_event(forward, "BLOCK_IO_ERROR", data);
	assert_int_equal(sent, 1);
	assert_string_equal(json_str(last, "name"), "BLOCK_IO_ERROR");
	assert_null(json_get(last, "data"));
}

int main(void)
{
#define FORWARD_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		FORWARD_TEST(test_storm),
		FORWARD_TEST(test_nobody_there),
		FORWARD_TEST(test_only_what_the_handler_wants),
		FORWARD_TEST(test_large_data_is_left_out),
	};

	(void)alarm(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
