// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include <string.h>

#include "lib/json.h"
#include "lib/yaml.h"

static void comes_back(const json_t *value)
{
	_cleanup_free_ char *yaml = yaml_dump(value), *want = json_text(value), *got = NULL;
	struct yaml_doc **docs = NULL;
	struct err err = {};
	size_t n = 0;

	if (yaml_parse("dump", yaml, strlen(yaml), &docs, &n, &err) < 0)
		fail_msg("%s\n%s", err.msg, yaml);
	got = n == 1 ? json_text(yaml_doc_root(docs[0])) : xstrdup("null");
	if (strcmp(want, got) != 0)
		fail_msg("%s came back as %s from\n%s", want, got, yaml);
	yaml_docs_free(docs, n);
}

static void string_comes_back(const char *s)
{
	_cleanup_json_ json_t *v = json_pack("{s:s, s:{s:[s, [s]]}}", "v", s, "deep", "list", s, s);

	json_object_set_new(v, s, json_true()); /* as a key, too */
	comes_back(v);
}

static void strings_stay_strings(void **state)
{
	static const char *const strings[] = {
		"yes",
		"No",
		"y",
		"on",
		"true",
		"null",
		"~",
		"",
		"1",
		"010",
		"0x1F",
		"1_000",
		"1e3",
		".5",
		".inf",
		".NaN",
		"-",
		"--",
		"---",
		"...",
		"?",
		":",
		"a: b",
		"a:b",
		"#",
		"a #b",
		"<<",
		"*x",
		"&x",
		"!x",
		"%x",
		"@x",
		"`x",
		"|",
		">",
		"[",
		"{}",
		"'",
		"\"",
		"it's",
		"1:30",
		"02:00:00:00:00:01",
		"2001-12-14",
		"2026-01-01T00:00:00Z",
		" lead",
		"trail ",
		"a\tb",
		"\t",
		"\n",
		"\n\n",
		"a\n",
		"a\nb",
		"a\n\nb\n\n",
		" a\nb",
		"\na",
		"a \nb",
		"a\n b\n",
		"  \n",
		"a\r\nb",
		"\r",
		"é",
		"😀",
		"\xe2\x80\xa8",
		"a\xe2\x80\xa9 b\nc",
		"\x01",
		"\x7f",
		"\xef\xbb\xbf",
		"\xc2\x85",
		"a\n#b",
		"a\n---\nb",
		"=",
		"1.2.3",
		"0o17",
		"0b1",
		"+1",
		"\\n",
		"#cloud-config\nusers:\n- name: x\n  a: |\n    b\n",
		"- a\n- b",
		", ",
		"a, b]",
		"? x",
	};

	char long_one[2000] = "";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		string_comes_back(strings[i]);
	memset(long_one, 'k', sizeof long_one - 1); /* beyond what YAML takes as a simple key */
	string_comes_back(long_one);
}

/* Strings over the characters that YAML gives meaning to, from a fixed sequence. */
static void mixed_strings_come_back(void **state)
{
	static const char alphabet[] = " \n\t:-#?'\"\\|>[]{},&*!%@`~<=.0123exyn_";
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		char s[9];
		size_t n = 0;

		for (; n < 1 + (size_t)i % 8; n++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			s[n] = alphabet[(seed >> 33) % (sizeof alphabet - 1)];
		}
		s[n] = 0;
		string_comes_back(s);
	}
}

static void layout_is_kubectls(void **state)
{
	_cleanup_json_ json_t *v = NULL;
	_cleanup_free_ char *yaml = NULL;
	static const char text[] =
		"{\"spec\":{\"b\":[{\"name\":\"x\",\"num\":1},[1,0.1]],\"e\":{},\"l\":[],"
		"\"script\":\"a\\nb\\n\",\"on\":\"true\",\"z\":null},\"a\":true}";

	(void)state;
	assert_int_equal(json_parse(text, strlen(text), 4096, &v, NULL), 0);
	yaml = yaml_dump(v);
	assert_string_equal(yaml, "a: true\n"
				  "spec:\n"
				  "  b:\n"
				  "  - name: x\n"
				  "    num: 1\n"
				  "  - - 1\n"
				  "    - 0.1\n"
				  "  e: {}\n"
				  "  l: []\n"
				  "  \"on\": \"true\"\n"
				  "  script: |\n"
				  "    a\n"
				  "    b\n"
				  "  z: null\n");
}

static void numbers_come_back(void **state)
{
	static const char text[] =
		"[0,-1,9223372036854775807,-9223372036854775808,0.1,1e21,-2.5e-7,"
		"1.7976931348623157e308,5e-324,123456789.12345679]";
	_cleanup_json_ json_t *v = NULL, *scalar = json_integer(5), *word = json_string("no");

	(void)state;
	assert_int_equal(json_parse(text, strlen(text), 4096, &v, NULL), 0);
	comes_back(v);
	comes_back(scalar);
	comes_back(word);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_stay_strings),
		cmocka_unit_test(mixed_strings_come_back),
		cmocka_unit_test(layout_is_kubectls),
		cmocka_unit_test(numbers_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
