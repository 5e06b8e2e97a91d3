// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "cmd/columns.h"
#include "cmd/table.h"

#include <string.h>

#include "lib/json.h"
#include "lib/util.h"

static char *flushed(struct table *t)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	table_flush(t, to);
	assert_int_equal(fclose(to), 0);
	return text;
}

static void test_layout(void **state)
{
	_cleanup_free_ char *first = NULL, *second = NULL;
	struct table t;

	(void)state;
	table_init(&t, 3);
	table_row(&t, (const char *const[]){"NAME", "IP", "READY"});
	table_row(&t, (const char *const[]){"a-longer-name", NULL, "True"});
	table_row(&t, (const char *const[]){"b", "10.0.0.1", ""});
	first = flushed(&t);
	assert_string_equal(first, "NAME            IP         READY\n"
				   "a-longer-name              True\n"
				   "b               10.0.0.1\n");
	/* later rows line up with what is on the screen already */
	table_row(&t, (const char *const[]){"c", "::1", "x"});
	second = flushed(&t);
	assert_string_equal(second, "c               ::1        x\n");
	table_done(&t);
}

/* Events begin with when, not with a name; one that was counted again is another row. */
static void test_events(void **state)
{
	_cleanup_json_ json_t *event = json_pack(
		"{s:{s:s}, s:{s:s, s:s}, s:s, s:s, s:s, s:s, s:s, s:i, s:{s:s}}", "metadata",
		"name", "a.0123", "involvedObject", "kind", "VirtualMachineInstance", "name", "a",
		"reason", "Started", "message", "hi\x1b\xc2\x9b", "type", "Normal",
		"firstTimestamp", "2026-11-30T10:00:00Z", "lastTimestamp", "?", "count", 3,
		"source", "component", "virt-handler");
	const struct kind *k = kind_by_word("ev");
	_cleanup_free_ char *text = NULL, *before = NULL, *after = NULL;
	struct table t;

	(void)state;
	columns_begin(&t, k, /* ns= */ false, /* wide= */ false);
	columns_row(&t, k, false, false, event);
	text = flushed(&t);
	assert_string_equal(text,
			    "LAST SEEN   TYPE     REASON    OBJECT                     MESSAGE\n"
			    "<unknown>   Normal   Started   virtualmachineinstance/a   hi??\n");
	table_done(&t);
	before = columns_text(k, false, event);
	(void)json_path_set(event, "count", json_integer(4));
	after = columns_text(k, false, event);
	assert_string_not_equal(before, after);
}

static void test_fixed(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct table t;

	(void)state;
	table_init(&t, 3);
	table_widen(&t, 0, 6);
	table_widen(&t, 1, 1);
	table_row(&t, (const char *const[]){"NAME", "IP", "READY"});
	table_fix(&t);
	table_row(&t, (const char *const[]){"longer-name", "::1", "x"});
	table_row(&t, (const char *const[]){"b", "::", "y"});
	text = flushed(&t);
	assert_string_equal(text, "NAME     IP   READY\n"
				  "longer-name   ::1   x\n"
				  "b        ::   y\n");
	table_done(&t);
}

static void test_text(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct table t;

	(void)state;
	table_init(&t, 2);
	table_row(&t, (const char *const[]){"\x1b[31mred\n", "x"});
	table_row(&t, (const char *const[]){"größe", "y"}); /* two bytes, one column */
	text = flushed(&t);
	assert_string_equal(text, "?[31mred?   x\ngröße       y\n");
	table_done(&t);
}

static void test_vmi_columns(void **state)
{
	json_t *vmi = json_pack("{s:{s:s, s:s}, s:{s:s, s:s, s:[{s:s}], s:[{s:s, s:s}]}}",
				"metadata", "name", "demo", "namespace", "lab", "status", "phase",
				"Running", "nodeName", "n1", "interfaces", "ipAddress", "10.1.2.3",
				"conditions", "type", "Ready", "status", "True");
	_cleanup_free_ char *plain = NULL, *wide = NULL;
	struct table t;

	(void)state;
	columns_begin(&t, kind_by_word("vmi"), false, false);
	columns_row(&t, kind_by_word("vmi"), false, false, vmi);
	plain = flushed(&t);
	assert_string_equal(plain, "NAME   AGE         PHASE     IP         NODENAME   READY\n"
				   "demo   <unknown>   Running   10.1.2.3   n1         True\n");
	table_done(&t);
	columns_begin(&t, kind_by_word("vmi"), true, true);
	columns_row(&t, kind_by_word("vmi"), true, true, vmi);
	wide = flushed(&t);
	assert_non_null(strstr(wide, "NAMESPACE   NAME   AGE"));
	assert_non_null(
		strstr(wide, "LIVE-MIGRATABLE   PAUSED   REASON   MESSAGE\nlab         demo"));
	table_done(&t);
	json_decref(vmi);
}

static void test_why_column(void **state)
{
	_cleanup_json_ json_t *vmi = json_pack(
		"{s:{s:s}, s:{s:s, s:s, s:[{s:s, s:s, s:s}]}}", "metadata", "name", "demo",
		"status", "phase", "Failed", "reason", "FailedStart", "conditions", "type",
		"Synchronized", "status", "False", "message", "no such disk");
	_cleanup_free_ char *wide = NULL;
	struct table t;

	(void)state;
	columns_begin(&t, kind_by_word("vmi"), false, true);
	columns_row(&t, kind_by_word("vmi"), false, true, vmi);
	wide = flushed(&t);
	assert_non_null(strstr(wide, "   FailedStart   no such disk\n"));
	table_done(&t);
}

/* Every column of every kind fits, and rows are told apart by what they show but for the age. */
static void test_watched(void **state)
{
	_cleanup_json_ json_t *object = json_pack(
		"{s:{s:s, s:s}, s:{s:s}}", "metadata", "name", "demo", "creationTimestamp",
		"2026-11-30T15:04:05Z", "status", "phase", "Scheduling");
	_cleanup_free_ char *before = columns_text(kind_by_word("vmi"), false, object);
	_cleanup_free_ char *older = NULL, *after = NULL;
	struct table t;

	(void)state;
	for (size_t i = 0; i < KINDS_MAX; i++) {
		columns_begin(&t, &kinds[i], true, true);
		columns_leave_room(&t, &kinds[i], true, true);
		assert_true(t.width[0] >= 12 &&
			    t.width[1] >= (str_eq(kinds[i].kind, "Event") ? 9 : 20));
		table_done(&t);
	}
	(void)json_path_set(object, "metadata.creationTimestamp",
			    json_string("2025-11-30T15:04:05Z"));
	(void)json_path_set(object, "status.nothing", json_string("shown"));
	older = columns_text(kind_by_word("vmi"), false, object);
	assert_string_equal(older, before);
	(void)json_path_set(object, "status.phase", json_string("Running"));
	after = columns_text(kind_by_word("vmi"), false, object);
	assert_string_not_equal(after, before);
}

static void test_namespace_status(void **state)
{
	_cleanup_json_ json_t *ns = json_pack("{s:{s:s}}", "metadata", "name", "lab");
	_cleanup_free_ char *text = NULL;
	struct table t;

	(void)state;
	columns_begin(&t, kind_by_word("namespace"), false, false);
	columns_row(&t, kind_by_word("namespace"), false, false, ns);
	(void)json_path_set(ns, "metadata.deletionTimestamp", json_string("x"));
	columns_row(&t, kind_by_word("namespace"), false, false, ns);
	text = flushed(&t);
	assert_non_null(strstr(text, "lab    Active        <unknown>\n"
				     "lab    Terminating   <unknown>\n"));
	table_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),	    cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_events),	    cmocka_unit_test(test_text),
		cmocka_unit_test(test_vmi_columns), cmocka_unit_test(test_why_column),
		cmocka_unit_test(test_watched),	    cmocka_unit_test(test_namespace_status),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
