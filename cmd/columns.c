// SPDX-License-Identifier: Apache-2.0
#include "cmd/columns.h"

#include "cmd/age.h"
#include "cmd/verdict.h"

#include "api/meta.h"
#include "lib/json.h"

enum from {
	FROM_PATH,
	FROM_CONDITION,
	FROM_AGE,
	FROM_READY_NODE,
	FROM_DELETION,
	FROM_REASON,
	FROM_MESSAGE,
};

struct column {
	const char *title;
	enum from from;
	const char *what;   /* field path, or condition */
	bool wide;	    /* only with -o wide */
	unsigned char room; /* width while it is watched, for what may come */
};

static const struct column vmi_columns[] = {
	{"AGE", FROM_AGE, NULL, false, 6},
	{"PHASE", FROM_PATH, "status.phase", false, 10},
	{"IP", FROM_PATH, "status.interfaces[0].ipAddress", false, 15},
	{"NODENAME", FROM_PATH, "status.nodeName", false, 16},
	{"READY", FROM_CONDITION, "Ready", false, 5},
	{"LIVE-MIGRATABLE", FROM_CONDITION, "LiveMigratable", true, 0},
	{"PAUSED", FROM_CONDITION, "Paused", true, 0},
	{"REASON", FROM_REASON, NULL, true, 14},
	{"MESSAGE", FROM_MESSAGE, NULL, true, 0},
	{NULL},
};
static const struct column vm_columns[] = {
	{"AGE", FROM_AGE, NULL, false, 6},
	{"STATUS", FROM_PATH, "status.printableStatus", false, 18},
	{"READY", FROM_CONDITION, "Ready", false, 5},
	{"REASON", FROM_REASON, NULL, true, 14},
	{"MESSAGE", FROM_MESSAGE, NULL, true, 0},
	{NULL},
};
static const struct column node_columns[] = {
	{"STATUS", FROM_READY_NODE, NULL, false, 8},
	{"AGE", FROM_AGE, NULL, false, 6},
	{"VERSION", FROM_PATH, "status.nodeInfo.kubeletVersion", false, 0},
	{"KERNEL-VERSION", FROM_PATH, "status.nodeInfo.kernelVersion", true, 0},
	{NULL},
};
static const struct column namespace_columns[] = {
	{"STATUS", FROM_DELETION, NULL, false, 11},
	{"AGE", FROM_AGE, NULL, false, 6},
	{NULL},
};
static const struct column plain_columns[] = {
	{"AGE", FROM_AGE, NULL, false, 6},
	{NULL},
};

static const struct column *columns_of(const struct kind *k)
{
	static const struct {
		const char *kind;
		const struct column *columns;
	} known[] = {
		{"VirtualMachineInstance", vmi_columns},
		{"VirtualMachine", vm_columns},
		{"Node", node_columns},
		{"Namespace", namespace_columns},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (str_eq(known[i].kind, k->kind))
			return known[i].columns;
	return plain_columns;
}

const char *columns_condition(const json_t *object, const char *type)
{
	const json_t *c = json_find(json_get(object, "status.conditions"), "type", type);
	const char *status = json_str(c, "status");

	return status ? status : "";
}

static const char *cell(const struct column *c, const json_t *object, char age[static AGE_MAX])
{
	const char *reason, *message;

	switch (c->from) {
	case FROM_PATH:
		return json_str(object, c->what);
	case FROM_CONDITION:
		return columns_condition(object, c->what);
	case FROM_AGE:
		return age_since(json_str(object, "metadata.creationTimestamp"), time(NULL), age);
	case FROM_READY_NODE:
		return str_eq(columns_condition(object, "Ready"), "True") ? "Ready" : "NotReady";
	case FROM_DELETION:
		return json_get(object, "metadata.deletionTimestamp") ? "Terminating" : "Active";
	case FROM_REASON:
	case FROM_MESSAGE:
		verdict_why(object, &reason, &message);
		return c->from == FROM_REASON ? reason : message;
	}
	return "";
}

#define ROOM_NAMESPACE 12
#define ROOM_NAME      20

void columns_leave_room(struct table *t, const struct kind *k, bool ns, bool wide)
{
	size_t n = 0;

	if (ns)
		table_widen(t, n++, ROOM_NAMESPACE);
	table_widen(t, n++, ROOM_NAME);
	for (const struct column *c = columns_of(k); c->title; c++)
		if (wide || !c->wide)
			table_widen(t, n++, c->room);
}

char *columns_text(const struct kind *k, bool wide, const json_t *object)
{
	char *all = xstrdup("");
	char age[AGE_MAX];

	for (const struct column *c = columns_of(k); c->title; c++) {
		char *more;

		if (c->from == FROM_AGE || (c->wide && !wide))
			continue;
		more = xasprintf("%s\n%s", all, cell(c, object, age) ? cell(c, object, age) : "");
		free(all);
		all = more;
	}
	return all;
}

void columns_begin(struct table *t, const struct kind *k, bool ns, bool wide)
{
	const char *titles[TABLE_COLUMNS];
	size_t n = 0;

	if (ns)
		titles[n++] = "NAMESPACE";
	titles[n++] = "NAME";
	for (const struct column *c = columns_of(k); c->title; c++)
		if (wide || !c->wide)
			titles[n++] = c->title;
	table_init(t, n);
	table_row(t, titles);
}

void columns_row(struct table *t, const struct kind *k, bool ns, bool wide, const json_t *object)
{
	const char *texts[TABLE_COLUMNS];
	char age[AGE_MAX];
	size_t n = 0;

	if (ns)
		texts[n++] = object_namespace(object);
	texts[n++] = object_name(object)[0] ? object_name(object) : "default";
	for (const struct column *c = columns_of(k); c->title; c++)
		if (wide || !c->wide)
			texts[n++] = cell(c, object, age);
	table_row(t, texts);
}
