// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "cmd/apply.h"

#include "lib/json.h"

static void same(const char *there, const char *wanted, bool expected)
{
	_cleanup_json_ json_t *a = json_loads(there, 0, NULL);
	_cleanup_json_ json_t *b = json_loads(wanted, 0, NULL);

	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(apply_same(a, b), expected);
}

#define THERE(meta)                                                                                \
	"{\"kind\": \"KubeVirt\", \"metadata\": {\"name\": \"a\", \"uid\": \"u\"" meta             \
	"}, \"spec\": {\"x\": 1}, \"status\": {\"phase\": \"p\"}}"
#define WANTED(meta, x)                                                                            \
	"{\"kind\": \"KubeVirt\", \"metadata\": {\"name\": \"a\"" meta "}, \"spec\": {\"x\": " x   \
	"}}"

static void test_same(void **state)
{
	(void)state;
	same(THERE(""), WANTED("", "1"), true);
	same(THERE(""), WANTED("", "2"), false);
	same(THERE(""), WANTED(", \"labels\": {}, \"annotations\": {}", "1"), true);
	same(THERE(", \"labels\": {\"a\": \"b\"}"), WANTED(", \"labels\": {\"a\": \"b\"}", "1"),
	     true);
}

/* What the handler's own manifests made says so; no file of a user's can, even if it is a copy. */
static void test_marks(void **state)
{
	(void)state;
	same(THERE(", \"annotations\": {\"virtpod.io/manifest\": \"a.json\", "
		   "\"virtpod.io/manifest-hash\": \"0\"}"),
	     WANTED("", "1"), true);
	same(THERE(", \"annotations\": {\"virtpod.io/manifest\": \"a.json\", \"a\": \"b\"}"),
	     WANTED("", "1"), false);
}

/* An annotation can be all that matters: a HyperConverged's JSON patch, a VM's isolation. */
static void test_metadata_counts(void **state)
{
	(void)state;
	same(THERE(""), WANTED(", \"annotations\": {\"a\": \"b\"}", "1"), false);
	same(THERE(", \"annotations\": {\"a\": \"b\"}"), WANTED("", "1"), false);
	same(THERE(", \"annotations\": {\"a\": \"b\"}"),
	     WANTED(", \"annotations\": {\"a\": \"c\"}", "1"), false);
	same(THERE(""), WANTED(", \"labels\": {\"a\": \"b\"}", "1"), false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_metadata_counts),
		cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests_name("apply", tests, NULL, NULL);
}
