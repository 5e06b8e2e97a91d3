// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "lib/json.h"
#include "lib/yaml.h"
#include "tests/unit/oracle.h"

struct docs {
	struct yaml_doc **list;
	size_t n;
};

static void docs_done(struct docs *d)
{
	yaml_docs_free(d->list, d->n);
}
#define _cleanup_docs_ _cleanup_(docs_done)

static struct docs parse(const char *text)
{
	struct err err = {};
	struct docs d = {};

	if (yaml_parse("vm.yaml", text, strlen(text), &d.list, &d.n, &err) < 0)
		fail_msg("%s", err.msg);
	return d;
}

static void refuse_bytes(const char *text, size_t len, int code, const char *message)
{
	struct yaml_doc **list = (void *)&len;
	struct err err = {};
	size_t n = 77;
	int r = yaml_parse("vm.yaml", text, len, &list, &n, &err);

	if (r != code || !strstr(err.msg, message) || strchr(err.msg, '\n'))
		fail_msg("%d '%s' instead of %d '%s'", r, err.msg, code, message);
	assert_ptr_equal(list, &len);
	assert_int_equal(n, 77);
}

static void refuse(const char *text, const char *message)
{
	refuse_bytes(text, strlen(text), -EINVAL, message);
}

/* As values: JSON has one kind of number. */
static bool same(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *v;
	size_t i;

	if (json_is_number(a) && json_is_number(b) && (json_is_real(a) || json_is_real(b)))
		return json_number_value(a) == json_number_value(b);
	if (json_typeof(a) != json_typeof(b) || json_array_size(a) != json_array_size(b) ||
	    json_object_size(a) != json_object_size(b))
		return false;
	json_array_foreach (a, i, v)
		if (!same(v, json_array_get(b, i)))
			return false;
	json_object_foreach ((json_t *)(uintptr_t)a, key, v)
		if (!json_object_get(b, key) || !same(v, json_object_get(b, key)))
			return false;
	return json_is_object(a) || json_is_array(a) || json_equal(a, b);
}

static bool check_vector(const json_t *vector)
{
	const json_t *in = json_object_get(vector, "in");
	const char *text = json_str(vector, "json");
	_cleanup_json_ json_t *want = NULL;
	_cleanup_json_ json_t *null = json_null();
	_cleanup_docs_ struct docs d = {};
	int r = yaml_parse("v", json_string_value(in), json_string_length(in), &d.list, &d.n, NULL);

	if (!json_flag(vector, "ok", false))
		return r < 0;
	if (r < 0)
		return false;
	want = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	if (!want) /* whole numbers beyond jansson's */
		want = json_loads(text, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
	assert_non_null(want);
	return same(want, d.n ? yaml_doc_root(d.list[0]) : null);
}

static void vectors_agree(void **state)
{
	size_t n;

	(void)state;
	oracle_run("kubernetes/yaml.jsonl", "yaml", check_vector, &n);
	assert_int_equal(n, 232);
}

/* What the sample of vectors leaves out; known from go-yaml's own rules. */
static void scalars_beyond_the_vectors(void **state)
{
	static const struct {
		const char *yaml, *json;
	} cases[] = {
		{"a: +0x10\n", "{\"a\":16}"},
		{"a: 0b-101\n", "{\"a\":-5}"},
		{"a: -0b11\n", "{\"a\":-3}"},
		{"a: _1\n", "{\"a\":\"_1\"}"},
		{"a: 1__0_\n", "{\"a\":10}"},
		{"a: .5_0\n", "{\"a\":\".5_0\"}"},
		{"a: 1_0.5\n", "{\"a\":10.5}"},
		{"a: 1e999\n", "{\"a\":\"1e999\"}"},
		{"a: 1e\n", "{\"a\":\"1e\"}"},
		{"a: 0x1FFFFFFFFFFFFFFFF\n", "{\"a\":\"0x1FFFFFFFFFFFFFFFF\"}"},
		{"a: -9223372036854775808\n", "{\"a\":-9223372036854775808}"},
		{"a: -0x8000000000000000\n", "{\"a\":-9223372036854775808}"},
		{"a: ! 5\n", "{\"a\":\"5\"}"},
		{"a: !!float 1\n", "{\"a\":1}"},
		{"a: !!binary aGVs\n", "{\"a\":\"hel\"}"},
		{"a: !!binary aGVsbA==\n", "{\"a\":\"hell\"}"},
		{"a: !!binary ''\n", "{\"a\":\"\"}"},
		{"a: !!str\n", "{\"a\":\"\"}"},
		{"1e5: a\n", "{\"100000\":\"a\"}"},
		{"1e6: a\n", "{\"1e+06\":\"a\"}"},
		{"0.1: a\n", "{\"0.1\":\"a\"}"},
		{"1.25: a\n", "{\"1.25\":\"a\"}"},
		{"16777217.0: a\n", "{\"1.6777216e+07\":\"a\"}"},
		{"-.inf: a\n", "{\"-.inf\":\"a\"}"},
		{"!!binary aGVs: a\n", "{\"hel\":\"a\"}"},
		{"<<: {}\na: 1\n", "{\"a\":1}"},
		{"!!merge <<: {a: 1}\n", "{\"a\":1}"},
		{"a: &m <<\n*m : 1\n", "{\"<<\":1,\"a\":\"<<\"}"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_docs_ struct docs d = parse(cases[i].yaml);
		_cleanup_free_ char *text = json_text(yaml_doc_root(d.list[0]));

		if (!str_eq(text, cases[i].json))
			fail_msg("%s gives %s", cases[i].yaml, text);
	}
	refuse("a: !!bool 1\n", "'1' is not what its tag '!!bool' says");
	refuse("a: !!float x\n", "'!!float'");
	refuse("a: !!timestamp x\n", "'!!timestamp'");
	refuse("a: !!binary aGV=s\n", "'!!binary'");
}

static const char manifest[] = "# a comment\n"
			       "---\n"
			       "\n"
			       "---\n"
			       "apiVersion: kubevirt.io/v1\n"			    /* 5 */
			       "metadata:\n"					    /* 6 */
			       "  annotations: {virtpod.io/isolation: off, b: c}\n" /* 7 */
			       "spec:\n"					    /* 8 */
			       "  yes:\n"					    /* 9 */
			       "  disks:\n"					    /* 10 */
			       "  - name: one\n"				    /* 11 */
			       "    disk:\n"					    /* 12 */
			       "      bus: virtio\n"				    /* 13 */
			       "  - name:\n"					    /* 14 */
			       "      two\n"					    /* 15 */
			       "--- null\n"
			       "---\n"
			       "{\"second\":\n"	       /* 18 */
			       "\t[1, {\"x\": 2}]}\n"; /* 19 */

static void lines_are_found_by_path(void **state)
{
	static const struct {
		size_t doc;
		const char *path;
		unsigned value, key;
	} cases[] = {
		{0, "", 5, 5},
		{0, "apiVersion", 5, 5},
		{0, "spec", 9, 8},
		{0, "spec.true", 9, 9},
		{0, "spec.disks", 11, 10},
		{0, "spec.disks[0]", 11, 11},
		{0, "spec.disks[0].disk.bus", 13, 13},
		{0, "spec.disks[1].name", 15, 14},
		{0, "metadata.annotations[virtpod.io/isolation]", 7, 7},
		/* absent: the nearest parent's key */
		{0, "spec.disks[0].disk.nosuch.deeper", 12, 12},
		{0, "spec.disks[7].name", 10, 10},
		{0, "spec.nosuch", 8, 8},
		{0, "nosuch", 5, 5},
		{0, "spec..", 8, 8},
		{0, "spec.disks[1].name[]]x].y", 14, 14},
		{1, "second[1].x", 19, 19},
		{1, "second", 19, 18},
	};
	_cleanup_docs_ struct docs d = parse(manifest);

	(void)state;
	assert_int_equal(d.n, 2);
	assert_string_equal(yaml_doc_name(d.list[1]), "vm.yaml");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct yaml_doc *doc = d.list[cases[i].doc];
		unsigned value = yaml_doc_line(doc, cases[i].path, false);
		unsigned key = yaml_doc_line(doc, cases[i].path, true);

		if (value != cases[i].value || key != cases[i].key)
			fail_msg("%s: lines %u and %u", cases[i].path, value, key);
	}
}

static void lines_lead_through_aliases_and_merges(void **state)
{
	_cleanup_docs_ struct docs d = parse("base: &b\n"
					     "  cores: 2\n"
					     "copy: *b\n"
					     "more:\n"
					     "  x: 1\n"
					     "  <<:\n"
					     "  - *b\n"
					     "  - threads: 1\n");
	_cleanup_free_ char *text = json_text(yaml_doc_root(d.list[0]));

	(void)state;
	assert_string_equal(text, "{\"base\":{\"cores\":2},\"copy\":{\"cores\":2},"
				  "\"more\":{\"cores\":2,\"threads\":1,\"x\":1}}");
	assert_int_equal(yaml_doc_line(d.list[0], "copy", false), 3);
	assert_int_equal(yaml_doc_line(d.list[0], "copy.cores", false), 2);
	assert_int_equal(yaml_doc_line(d.list[0], "more.cores", false), 2);
	assert_int_equal(yaml_doc_line(d.list[0], "more.threads", false), 8);
	/* copies are their own: changing one leaves the anchor alone */
	json_path_set(yaml_doc_root(d.list[0]), "copy.cores", json_integer(9));
	assert_int_equal(json_u64(yaml_doc_root(d.list[0]), "base.cores", 0), 2);
}

static void nothing_is_no_document(void **state)
{
	static const char *const empty[] = {"",		  "\n",	 "# nothing\n",
					    "---\n---\n", "~\n", "--- null"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(empty); i++) {
		struct docs d = parse(empty[i]);

		assert_int_equal(d.n, 0);
		assert_null(d.list);
	}
}

static void json_files_are_yaml(void **state)
{
	_cleanup_docs_ struct docs d =
		parse("{\n\t\"a\":\t\"yes\",\n\t\"b\": [1.5e3, -0, null, true],"
		      "\"c\":{\"d\\/\\u00e9\\n\":\"\"}\n}\n");
	_cleanup_free_ char *text = json_text(yaml_doc_root(d.list[0]));

	(void)state;
	assert_string_equal(text, "{\"a\":\"yes\",\"b\":[1500,0,null,true],"
				  "\"c\":{\"d/é\\n\":\"\"}}");
}

/* Where libyaml says something far from what was done. */
static void mistakes_that_lead_astray(void **state)
{
	(void)state;
	refuse("a:1\nb: 2\n", "vm.yaml:1: no blank after ':'; write 'key: value'");
	refuse("a: 1\n  b: 2\n", "vm.yaml:2: mapping values are not allowed");
	refuse("http://x/\nb: 2\n", "vm.yaml:2: mapping values are not allowed");
	refuse("{\"a\": [1,\n\"\u00fc\"\n\n", "vm.yaml:2: the text ends where more must follow");
	refuse("{\"a\": [1, \"\u00fc\"", "vm.yaml:1: the text ends where more must follow");
	refuse("{\"a\": 1 \"b\": 2}", "vm.yaml:1: did not find expected ',' or '}'; separate");
	refuse("a: 1\n{{- if .x }}\n", "; fill in the template first");
	refuse("a: {{ .x }}\n", "fill in a template's '{{' first");
	refuse("a:\n<<<<<<< HEAD\n  b: 1\n", "; resolve the merge conflict first");
	refuse("<html>\n<a>x: y</a>\n", "; this is a web page or XML, not a manifest");
	refuse("a: 1\na: 2\n", "keep one, or part two documents by '---'");
	refuse("a: &a {x: 1}\nb:\n  x: 2\n  <<: *a\n",
	       "vm.yaml:1: key 'x' is set twice in one mapping, here by way of '<<', first in "
	       "line 3; keep one");
}

static void mistakes_name_line_and_cure(void **state)
{
	(void)state;
	refuse("a: 1\nb:\n  c: 1\n  c: 2\n", "vm.yaml:4: key 'c' is set twice in one mapping, "
					     "first in line 3");
	refuse("b:\n  on: 1\n  yes: 2\n", "vm.yaml:3: key 'true' (as YAML 1.1 reads it)");
	refuse("a:\n\tb: 1\n", "vm.yaml:2: found character that cannot start any token; a tab "
			       "can't indent YAML: use spaces");
	refuse("a: 1\n b: 2\n", "vm.yaml:2: mapping values are not allowed");
	refuse("a: 1\nb: \"x\n\n\n", "vm.yaml:2: found unexpected end of stream");
	refuse("a:\n  b: &x\n    c: *x\n", "vm.yaml:3: alias '*x' stands inside its own anchor "
					   "(line 2)");
	refuse("&x a: 1\n---\nb: *x\n", "vm.yaml:3: alias '*x' has no anchor");
	refuse("a: 1\n---\nb: .inf\n", "vm.yaml:3: '.inf'");
	refuse("a: 1\nb: \"x\\0y\"\n", "vm.yaml:2: the text holds a NUL");
	refuse("a: 1\nb: \xff\n", "vm.yaml:2: invalid leading UTF-8 octet; save the file as UTF-8");
	refuse("a: !!binary \"/w==\"\n", "vm.yaml:1: binary data");
	refuse("a: !!binary \"AA==\"\n", "vm.yaml:1: binary data");
	refuse("a: !!binary \"Zg=\"\n", "vm.yaml:1: 'Zg=' is not what its tag '!!binary' says");
	refuse("18446744073709551615: a\n", "vm.yaml:1: '18446744073709551615' as a key");
	refuse_bytes("a: 1\nb: \0\n", 10, -EINVAL, "vm.yaml:2: a NUL byte");
}

/* n levels, each an alias of the one before, `width` times. */
static char *laughs(unsigned levels, unsigned width, const char *first)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	fprintf(f, "a0: &a0 [%s]\n", first);
	for (unsigned i = 1; i <= levels; i++) {
		fprintf(f, "a%u: &a%u [", i, i);
		for (unsigned k = 0; k < width; k++)
			fprintf(f, "%s*a%u", k ? ", " : "", i - 1);
		fprintf(f, "]\n");
	}
	fclose(f);
	return text;
}

static void growth_is_bounded(void **state)
{
	_cleanup_free_ char *fits = laughs(3, 20, "x"), *nodes = laughs(6, 9, "x");
	_cleanup_free_ char *deep = laughs(YAML_DEPTH_MAX, 1, "x");
	_cleanup_free_ char *long_text = xcalloc(1, 100001), *bytes = NULL;
	_cleanup_docs_ struct docs d = parse(fits);

	(void)state;
	assert_int_equal(json_array_size(json_get(yaml_doc_root(d.list[0]), "a3[19][19]")), 20);
	refuse_bytes(nodes, strlen(nodes), -EFBIG, "once aliases are expanded");
	refuse_bytes(deep, strlen(deep), -EINVAL, "nested deeper than 64 levels once aliases");
	memset(long_text, 'x', 100000);
	bytes = laughs(2, 10, long_text);
	refuse_bytes(bytes, strlen(bytes), -EFBIG, "bytes once aliases are expanded");
}

static void merges_are_bounded(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	/* empty mappings merge without a duplicate, twice as often at each level */
	fprintf(f, "a0: &a0 {}\n");
	for (unsigned i = 1; i <= 18; i++)
		fprintf(f, "a%u: &a%u {<<: [*a%u, *a%u]}\n", i, i, i - 1, i - 1);
	fclose(f);
	refuse_bytes(text, len, -EFBIG, "once aliases are expanded");
	free(text);
}

static void input_is_bounded(void **state)
{
	_cleanup_free_ char *big = xcalloc(1, YAML_BYTES_MAX + 1), *many = xcalloc(1, 300001);
	char deep[YAML_DEPTH_MAX + 1];

	(void)state;
	for (size_t i = 0; i < 65; i++)
		memcpy(many + 7 * i, "%TAG !\n", 7);
	refuse_bytes(many, 65 * 7, -EFBIG, "vm.yaml:65: more than 64 times '%TAG' in one stream");
	memset(big, ' ', YAML_BYTES_MAX + 1);
	refuse_bytes(big, YAML_BYTES_MAX + 1, -EFBIG, "at most 4194304");
	memset(deep, '[', sizeof deep);
	refuse_bytes(deep, sizeof deep, -EINVAL, "nested deeper than 64 levels");
	for (size_t i = 0; i < 300000; i += 3)
		memcpy(many + i, "- \n", 3);
	refuse_bytes(many, 300000, -EFBIG, "more than 100000 values");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_agree),
		cmocka_unit_test(scalars_beyond_the_vectors),
		cmocka_unit_test(lines_are_found_by_path),
		cmocka_unit_test(lines_lead_through_aliases_and_merges),
		cmocka_unit_test(nothing_is_no_document),
		cmocka_unit_test(json_files_are_yaml),
		cmocka_unit_test(mistakes_name_line_and_cure),
		cmocka_unit_test(mistakes_that_lead_astray),
		cmocka_unit_test(growth_is_bounded),
		cmocka_unit_test(merges_are_bounded),
		cmocka_unit_test(input_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
