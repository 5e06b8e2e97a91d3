// SPDX-License-Identifier: Apache-2.0
/*
 * Which fields are built stands in tests/unit/api/built.txt as well: a field that is taken without
 * being built would be a promise not kept, so marking one is a change in two places.
 */
#include "tests/unit/unit.h"

#include <stdio.h>

#include "api/kind.h"
#include "api/schema.h"
#include "tests/unit/api/objects.h"
#include "tests/unit/oracle.h"

static bool has_child(const struct field *f)
{
	return f->type == F_OBJECT || f->type == F_LIST || f->type == F_OBJECTS;
}

static void list_built(FILE *out, const struct schema *schema, const char *path)
{
	for (const struct field *f = schema->fields; f->name; f++) {
		_cleanup_free_ char *at = xasprintf("%s%s%s%s", path, *path ? "." : "", f->name,
						    f->type == F_LIST	   ? "[]"
						    : f->type == F_OBJECTS ? ".*"
									   : "");

		/* metadata and status are every kind's; what is below LATER is refused with it */
		if (!f->built || str_eq(f->name, "metadata") || str_eq(at, "status"))
			continue;
		if (has_child(f))
			list_built(out, f->child, at);
		else
			(void)fprintf(out, "%s\n", at);
	}
}

static void built_fields_are_as_listed(void **state)
{
	_cleanup_free_ char *golden = oracle_read("tests/unit/api/built.txt"), *now = NULL;
	size_t len;
	FILE *out = open_memstream(&now, &len);

	(void)state;
	assert_non_null(out);
	for (size_t i = 0; i < KINDS_MAX; i++) {
		(void)fprintf(out, "# %s\n", kinds[i].kind);
		list_built(out, kinds[i].schema, "");
	}
	assert_int_equal(fclose(out), 0);
	if (!str_eq(golden, now)) {
		(void)fprintf(stderr, "tests/unit/api/built.txt would be:\n%s", now);
		fail();
	}
}

/* Tables are closed, names in them unique, and children where the type needs one. */
static void check_table(const struct schema *schema, int depth)
{
	assert_in_range(depth, 0, 20);
	for (const struct field *f = schema->fields; f->name; f++) {
		assert_int_equal(has_child(f), f->child != NULL);
		for (const struct field *g = schema->fields; g != f; g++)
			assert_string_not_equal(g->name, f->name);
		if (f->child)
			check_table(f->child, depth + 1);
	}
}

static void tables_are_sound(void **state)
{
	(void)state;
	for (size_t i = 0; i < KINDS_MAX; i++)
		check_table(kinds[i].schema, 0);
}

/* Names that hold dots or brackets are told apart from steps of the path. */
static void odd_names_in_paths(void **state)
{
	_cleanup_yaml_doc_ struct yaml_doc *doc = doc_of(
		"metadata:\n  annotations:\n    a.b/c: 1\n  labels:\n    x: 2\n\"a.b\": 1\n");
	_cleanup_causes_ struct causes causes = {0};

	(void)state;
	schema_check(&schema_vmi, yaml_doc_root(doc), &causes);
	assert_int_equal(causes.n, 3);
	assert_string_equal(causes.list[0].field, "metadata.annotations[a.b/c]");
	assert_string_equal(causes.list[1].field, "metadata.labels.x");
	assert_string_equal(causes.list[2].field, "[a.b]");
}

/* Long names and deep places are cut, never overrun. */
static void long_names(void **state)
{
	_cleanup_free_ char *name = xcalloc(1, 5001);
	_cleanup_causes_ struct causes causes = {0};
	_cleanup_json_ json_t *obj = json_object();

	(void)state;
	memset(name, 'n', 5000);
	(void)json_path_set(obj, "spec.domain.devices.disks[0]", json_object());
	(void)json_object_set_new(json_get(obj, "spec.domain.devices.disks[0]"), name,
				  json_string(name));
	(void)json_object_set_new(obj, name, json_integer(1));
	schema_check(&schema_vmi, obj, &causes);
	assert_int_equal(causes.n, 2);
	assert_int_equal(strlen(causes.list[0].field),
			 strlen("spec.domain.devices.disks[0].") + 300);
	assert_int_equal(strlen(causes.list[1].field), 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(built_fields_are_as_listed),
		cmocka_unit_test(tables_are_sound),
		cmocka_unit_test(odd_names_in_paths),
		cmocka_unit_test(long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
