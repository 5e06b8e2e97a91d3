// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "lib/json.h"

static json_t *parse(const char *text)
{
	struct err err = {};
	json_t *v = NULL;

	if (json_parse(text, strlen(text), 4096, &v, &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	return v;
}

static void paths_reach_every_value(void **state)
{
	_cleanup_json_ json_t *v =
		parse("{\"a\":{\"b\":[1,{\"c\":true}]},\"x\":\"s\",\"n\":null,"
		      "\"ann\":{\"virtpod.io/isolation\":\"off\",\"0\":\"zero\"}}");

	(void)state;
	assert_ptr_equal(json_get(v, ""), v);
	assert_int_equal(json_integer_value(json_get(v, "a.b[0]")), 1);
	assert_true(json_flag(v, "a.b[1].c", false));
	assert_string_equal(json_str(v, "ann[virtpod.io/isolation]"), "off");
	assert_string_equal(json_str(v, "ann[0]"), "zero");
	assert_true(json_is_null(json_get(v, "n")));
	assert_null(json_get(v, "a.b[2]"));
	assert_null(json_get(v, "a.z.q"));
	assert_null(json_get(v, "x.y"));
	assert_null(json_get(v, "a[0]"));
	assert_null(json_get(NULL, "a"));
}

static void malformed_paths_reach_nothing(void **state)
{
	static const char *const bad[] = {"a.", ".a", "a..b", "a[", "a[]", "a[0", "a[0]b", "a.[0]"};
	_cleanup_json_ json_t *v = parse("{\"a\":[{\"b\":1}],\"\":{\"a\":1}}");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (json_get(v, bad[i]))
			fail_msg("'%s' was taken", bad[i]);
		assert_int_equal(json_path_set(v, bad[i], json_true()), -EINVAL);
	}
}

static void getters_fall_back_on_absence_and_wrong_type(void **state)
{
	_cleanup_json_ json_t *v = parse("{\"i\":7,\"neg\":-1,\"s\":\"7\",\"b\":false}");

	(void)state;
	assert_int_equal(json_u64(v, "i", 9), 7);
	assert_int_equal(json_u64(v, "neg", 9), 9);
	assert_int_equal(json_u64(v, "s", 9), 9);
	assert_int_equal(json_u64(v, "none", 9), 9);
	assert_false(json_flag(v, "b", true));
	assert_true(json_flag(v, "i", true));
	assert_null(json_str(v, "i"));
}

static void find_takes_the_first_of_that_text(void **state)
{
	_cleanup_json_ json_t *v = parse(
		"[1, {}, {\"a\": 1}, {\"a\": \"x\", \"n\": 1}, {\"a.b\": \"y\"}, {\"a\": \"x\"}]");

	(void)state;
	assert_ptr_equal(json_find(v, "a", "x"), json_array_get(v, 3));
	assert_ptr_equal(json_find(v, "a.b", "y"), json_array_get(v, 4)); /* a name, no path */
	assert_null(json_find(v, "a", "y"));
	assert_null(json_find(v, "a", NULL));
	assert_null(json_find(json_array_get(v, 3), "a", "x"));
	assert_null(json_find(NULL, "a", "x"));
}

static void set_makes_parents(void **state)
{
	_cleanup_json_ json_t *v = json_object();
	_cleanup_free_ char *text = NULL;

	(void)state;
	assert_int_equal(json_path_set(v, "spec.list[0].name", json_string("a")), 0);
	assert_int_equal(json_path_set(v, "spec.list[1]", json_integer(2)), 0);
	assert_int_equal(json_path_set(v, "spec.list[1]", json_integer(3)), 0);
	assert_int_equal(json_path_set(v, "m[k8s.io/x]", json_null()), 0);
	assert_int_equal(json_path_set(v, "spec.list[3]", json_integer(2)), -ERANGE);
	assert_int_equal(json_path_set(v, "spec.list.x", json_integer(2)), -EINVAL);
	assert_int_equal(json_path_set(v, "spec.list[1].x", json_integer(2)), -ENOTDIR);
	assert_int_equal(json_path_set(v, "", json_integer(2)), -EINVAL);
	assert_int_equal(json_path_set(v, "spec.none", NULL), -ENOMEM);
	text = json_text(v);
	assert_string_equal(text,
			    "{\"m\":{\"k8s.io/x\":null},\"spec\":{\"list\":[{\"name\":\"a\"},3]}}");
}

static void text_does_not_depend_on_order(void **state)
{
	_cleanup_json_ json_t *a = parse("{\"b\":1,\"a\":[true, \"x\"]}");
	_cleanup_json_ json_t *b = parse("{\"a\":[true,\"x\"],\n \"b\":1}");
	_cleanup_json_ json_t *scalar = parse("\"x\"");
	_cleanup_free_ char *ta = json_text(a), *tb = json_text(b), *ts = json_text(scalar);
	_cleanup_json_ json_t *reals = parse("[0.1, 1.5]");
	_cleanup_free_ char *tr = json_text(reals);

	(void)state;
	assert_string_equal(ta, tb);
	assert_string_equal(ta, "{\"a\":[true,\"x\"],\"b\":1}");
	assert_string_equal(ts, "\"x\"");
	assert_string_equal(tr, "[0.1,1.5]");
}

static void refuse(const char *text, size_t len, size_t max, int code, const char *words)
{
	struct err err = {};
	json_t *const untouched = json_true(), *v = untouched;

	if (json_parse(text, len, max, &v, &err) != code)
		fail_msg("'%s' was taken, or refused with another code: %s", text, err.msg);
	assert_ptr_equal(v, untouched);
	if (!strstr(err.msg, words) || strchr(err.msg, '\n'))
		fail_msg("'%s' does not say '%s' in one line", err.msg, words);
}

static void parse_refuses_what_is_not_strict(void **state)
{
	static const char *const bad[] = {
		"{\"a\":1,\"a\":2}",
		"{\"a\":1} x",
		"{\"a\":\"\\u0000\"}",
		"",
		"[1,]",
		"{a:1}",
		"\"\xff\"",
		"9223372036854775808",
		"[\"a\nb\"]",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		refuse(bad[i], strlen(bad[i]), 4096, -EINVAL, "not JSON");
	refuse("[1]", 3, 2, -EFBIG, "at most 2");
	refuse("{\"a\"\n:1,\n\"a\":2}", 15, 4096, -EINVAL, "line 3");
	refuse("[1\0]", 4, 4096, -EINVAL, "line 1: a NUL");
}

static void depth_is_bounded(void **state)
{
	char text[2 * JSON_DEPTH_MAX + 2];
	json_t *v = NULL;

	(void)state;
	memset(text, '[', JSON_DEPTH_MAX + 1);
	memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
	refuse(text, sizeof text, 4096, -EINVAL, "64");
	assert_int_equal(json_parse(text + 1, sizeof text - 2, 4096, &v, NULL), 0);
	json_decref(v);
	/* brackets in a string are text, also after a quote in it */
	text[0] = '"';
	memcpy(text + 1, "\\\"", 2);
	memset(text + 3, '[', sizeof text - 4);
	text[sizeof text - 1] = '"';
	assert_int_equal(json_parse(text, sizeof text, 4096, &v, NULL), 0);
	json_decref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_reach_every_value),
		cmocka_unit_test(malformed_paths_reach_nothing),
		cmocka_unit_test(getters_fall_back_on_absence_and_wrong_type),
		cmocka_unit_test(find_takes_the_first_of_that_text),
		cmocka_unit_test(set_makes_parents),
		cmocka_unit_test(text_does_not_depend_on_order),
		cmocka_unit_test(parse_refuses_what_is_not_strict),
		cmocka_unit_test(depth_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
