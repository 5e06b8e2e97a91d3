// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "cmd/columns.h"
#include "cmd/table.h"

#include <string.h>

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
	assert_non_null(strstr(wide, "LIVE-MIGRATABLE   PAUSED\nlab         demo"));
	table_done(&t);
	json_decref(vmi);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_vmi_columns),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
