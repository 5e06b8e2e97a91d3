// SPDX-License-Identifier: Apache-2.0
/* What verify says of a difference, and reports that no pod would give. */
#include "tests/unit/handler/verify/fixture.h"

/* One difference says what it is about, what was found and what is right. */
static void test_text(void **state)
{
	_cleanup_json_ json_t *report = json_deep_copy(golden), *differences = NULL;
	struct fixture f;

	(void)state;
	fixture_make(&f, golden_plan);
	change(report, "processes[1].threads[4].cpus", "'1-2'");
	change(report, "processes[1].threads[4].tid", "4711");
	differences = verify_differences(&f.p, report);
	assert_int_equal(json_array_size(differences), 1);
	assert_string_equal(json_str(differences, "[0].what"), "vcpuPins");
	assert_string_equal(json_str(differences, "[0].wanted"), "2");
	assert_string_equal(json_str(differences, "[0].found"), "1-2");
	assert_string_equal(json_str(differences, "[0].text"),
			    "thread 4711 \"CPU 1/TCG\" CPU mask is \"1-2\", must be \"2\"");
	fixture_done(&f);
}

/* Names that a hostile pod would choose stay within their line and can't be taken for another role. */
static void test_hostile_names(void **state)
{
	_cleanup_json_ json_t *report = json_deep_copy(golden), *differences = NULL;
	_cleanup_free_ char *found = NULL;
	struct fixture f;

	(void)state;
	fixture_make(&f, golden_plan);
	change(report, "processes[2]",
	       "{'name': 'other', 'pid': 99, 'comm': 'launcher\\nok: true\\u001b[2J\\u202e'}");
	change(report, "processes[1].threads[5].name", "'CPU 1/TCG\\n\\u0085'");
	change(report, "processes[1].mounts[3].point", "'/\\u202e\\n\\u001b[31m'");
	differences = verify_differences(&f.p, report);
	found = whats(differences); /* looks at each text */
	assert_true(has_word(found, "processes"));
	assert_true(has_word(found, "vcpuThreads"));
	assert_true(has_word(found, "mounts"));
	assert_string_equal(json_str(differences, "[0].text"),
			    "a process that is neither launcher nor QEMU, other (pid 99), is "
			    "\"launcher\\nok: true\\u001B[2J\\u202E\", must be absent");
	fixture_done(&f);
}

/* A long value is cut in the text, never in "found". */
static void test_long_values(void **state)
{
	_cleanup_json_ json_t *report = json_deep_copy(golden), *differences = NULL;
	struct fixture f;
	json_t *list;

	(void)state;
	fixture_make(&f, golden_plan);
	list = json_get(report, "devices");
	for (int i = 0; i < 1000; i++)
		(void)json_array_append_new(list, json_sprintf("c 10:%d rw", i));
	differences = verify_differences(&f.p, report);
	assert_int_equal(json_array_size(differences), 1);
	assert_int_equal(json_array_size(json_get(differences, "[0].found")), 1005);
	assert_true(strlen(json_str(differences, "[0].text")) < 600);
	fixture_done(&f);
}

/* Every value of the report in turn is something else: no crash, and each text is still one line. */
static void walk(json_t *at, const struct verify_promise *p, json_t *report, unsigned *count)
{
	static const char *const garbage[] = {"null", "-7", "\"\\n\"", "[[]]", "{\"\": {}}"};
	void *key = json_is_object(at) ? json_object_iter(at) : NULL;
	size_t n = json_is_object(at) ? json_object_size(at) : json_array_size(at);

	for (size_t i = 0; i < n; i++) {
		json_t *value = key ? json_object_iter_value(key) : json_array_get(at, i);

		json_incref(value);
		for (size_t g = 0; g < ARRAY_SIZE(garbage); g++) {
			json_t *other = json_loads(garbage[g], JSON_DECODE_ANY, NULL);
			json_t *differences;

			assert_int_equal(key ? json_object_iter_set_new(at, key, other)
					     : json_array_set_new(at, i, other),
					 0);
			differences = verify_differences(p, report);
			free(whats(differences));
			json_decref(differences);
			(*count)++;
		}
		assert_int_equal(key ? json_object_iter_set(at, key, value)
				     : json_array_set(at, i, value),
				 0);
		walk(value, p, report, count);
		json_decref(value);
		key = key ? json_object_iter_next(at, key) : NULL;
	}
}

static void test_garbage(void **state)
{
	_cleanup_json_ json_t *report = json_deep_copy(golden), *differences = NULL,
			      *nothing = NULL;
	unsigned count = 0;
	struct fixture f;

	(void)state;
	fixture_make(&f, golden_plan);
	walk(report, &f.p, report, &count);
	assert_true(count > 2000);
	differences = verify_differences(&f.p, report);
	assert_int_equal(json_array_size(differences), 0); /* everything is in its place again */
	json_object_clear(report);
	nothing = verify_differences(&f.p, report);
	assert_true(json_array_size(nothing) > 10);
	fixture_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_long_values),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
