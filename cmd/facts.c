// SPDX-License-Identifier: Apache-2.0
#include "cmd/facts.h"

#include "cmd/age.h"
#include "cmd/facts_kinds.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/util.h"
#include "lib/yaml.h"

#include <stdarg.h>
#include <string.h>

#define LABEL_WIDTH 17

void facts_line(FILE *to, const char *label, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort(); /* out of memory, as lib/util.h has it */
	va_end(ap);
	str_line(text, '?');
	(void)fprintf(to, "%-*s %s\n", LABEL_WIDTH, label, text);
	free(text);
}

void facts_text(FILE *to, const char *label, const char *text)
{
	if (text && *text)
		facts_line(to, label, "%s", text);
}

void facts_time(FILE *to, const char *label, const char *when, time_t now)
{
	char age[AGE_MAX];

	if (when)
		facts_line(to, label, "%s (%s ago)", when, age_since(when, now, age));
}

void facts_rows(FILE *to, const char *title, const char *const *head, size_t columns,
		const struct facts_cells *rows, size_t n)
{
	struct table t;

	if (n == 0) {
		facts_line(to, title, "<none>");
		return;
	}
	(void)fprintf(to, "%s\n", title);
	table_init(&t, columns);
	table_row(&t, head);
	for (size_t i = 0; i < n; i++)
		table_row(&t, rows[i].text);
	table_indent(&t, 2);
	table_flush(&t, to);
	table_done(&t);
}

/* "a=1", one below the other. */
static void map(FILE *to, const char *label, const json_t *values)
{
	const char *key, *title = label;
	json_t *value;

	if (!json_object_size(values))
		facts_line(to, label, "<none>");
	json_object_foreach ((json_t *)(uintptr_t)values, key, value) {
		facts_line(to, title, "%s=%s", key, json_string_value(value));
		title = "";
	}
}

static void who(FILE *to, const struct kind *k, const json_t *object, time_t now)
{
	facts_line(to, "Name:", "%s", object_name(object));
	if (k->namespaced)
		facts_line(to, "Namespace:", "%s", object_namespace(object));
	map(to, "Labels:", json_get(object, "metadata.labels"));
	map(to, "Annotations:", json_get(object, "metadata.annotations"));
	facts_text(to, "UID:", object_uid(object));
	facts_time(to, "Created:", json_str(object, "metadata.creationTimestamp"), now);
	facts_time(to, "Deleted:", json_str(object, "metadata.deletionTimestamp"), now);
	if (json_get(object, "metadata.ownerReferences[0]"))
		facts_line(to, "Owner:", "%s/%s",
			   json_str(object, "metadata.ownerReferences[0].kind"),
			   json_str(object, "metadata.ownerReferences[0].name"));
}

static void conditions(FILE *to, const json_t *object)
{
	static const char *const head[] = {"TYPE", "STATUS", "REASON", "MESSAGE"};
	const json_t *list = json_get(object, "status.conditions"), *c;
	size_t n = json_array_size(list), i;
	_cleanup_free_ struct facts_cells *rows = xcalloc(n + 1, sizeof *rows);

	if (!list)
		return;
	json_array_foreach (list, i, c)
		rows[i] = (struct facts_cells){{json_str(c, "type"), json_str(c, "status"),
						json_str(c, "reason"), json_str(c, "message")}};
	facts_rows(to, "Conditions:", head, ARRAY_SIZE(head), rows, n);
}

/* "5m", or "5m (x3 over 12m)" of one that came several times. */
static void when(const json_t *event, time_t now, char buf[static FACTS_WHEN_MAX])
{
	uint64_t count = json_u64(event, "count", 1);
	char last[AGE_MAX], first[AGE_MAX];

	(void)age_since(json_str(event, "lastTimestamp"), now, last);
	(void)age_since(json_str(event, "firstTimestamp"), now, first);
	if (count > 1)
		(void)snprintf(buf, FACTS_WHEN_MAX, "%s (x%llu over %s)", last,
			       (unsigned long long)count, first);
	else
		(void)snprintf(buf, FACTS_WHEN_MAX, "%s", last);
}

static void print_events(FILE *to, const json_t *list, time_t now)
{
	static const char *const head[] = {"TYPE", "REASON", "AGE", "FROM", "MESSAGE"};
	size_t n = json_array_size(list), i;
	_cleanup_free_ struct facts_cells *rows = xcalloc(n + 1, sizeof *rows);
	_cleanup_free_ char *ages = xcalloc(n + 1, FACTS_WHEN_MAX);
	const json_t *e;

	json_array_foreach (list, i, e) {
		char *age = ages + i * FACTS_WHEN_MAX;

		when(e, now, age);
		rows[i] = (struct facts_cells){{json_str(e, "type"), json_str(e, "reason"), age,
						json_str(e, "source.component"),
						json_str(e, "message")}};
	}
	facts_rows(to, "Events:", head, ARRAY_SIZE(head), rows, n);
}

void facts_yaml(FILE *to, const char *title, const json_t *value)
{
	_cleanup_free_ char *text = yaml_dump(value);
	char *save = NULL;

	(void)fprintf(to, "%s\n", title);
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		str_line(l, '?');
		(void)fprintf(to, "  %s\n", l);
	}
}

void facts_print(FILE *to, const struct kind *k, const json_t *object, const json_t *events,
		 const json_t *vmis, time_t now)
{
	who(to, k, object, now);
	if (str_eq(k->kind, "VirtualMachineInstance"))
		facts_vmi(to, object, now);
	else if (str_eq(k->kind, "VirtualMachine"))
		facts_vm(to, object);
	else if (str_eq(k->kind, "Node"))
		facts_node(to, object, vmis);
	else
		facts_other(to, object);
	conditions(to, object);
	print_events(to, events, now);
}
