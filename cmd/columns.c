// SPDX-License-Identifier: Apache-2.0
#include "cmd/columns.h"

#include "cmd/age.h"
#include "cmd/verdict.h"

#include "api/meta.h"
#include "lib/json.h"

#define CELL_MAX 320 /* of a text that is made: a kind and a name */

enum from {
	FROM_PATH,
	FROM_PHASE,
	FROM_CONDITION,
	FROM_AGE,
	FROM_READY_NODE,
	FROM_DELETION,
	FROM_REASON,
	FROM_MESSAGE,
	FROM_LAST_SEEN,
	FROM_FIRST_SEEN,
	FROM_INVOLVED,
	FROM_COUNT,
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
	{"PHASE", FROM_PHASE, NULL, false, 11},
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
/* kubectl's, which begin with no name */
static const struct column event_columns[] = {
	{"LAST SEEN", FROM_LAST_SEEN, NULL, false, 9},
	{"TYPE", FROM_PATH, "type", false, 7},
	{"REASON", FROM_PATH, "reason", false, 16},
	{"OBJECT", FROM_INVOLVED, NULL, false, 30},
	{"SOURCE", FROM_PATH, "source.component", true, 25},
	{"MESSAGE", FROM_PATH, "message", false, 0},
	{"FIRST SEEN", FROM_FIRST_SEEN, NULL, true, 10},
	{"COUNT", FROM_COUNT, NULL, true, 5},
	{"NAME", FROM_PATH, "metadata.name", true, 0},
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
		{"Event", event_columns},
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

/* "virtualmachineinstance/demo" */
static const char *involved(const json_t *event, char buf[static CELL_MAX])
{
	const char *word = json_str(event, "involvedObject.kind");
	const char *name = json_str(event, "involvedObject.name");
	const struct kind *k = word ? kind_by_word(word) : NULL;

	(void)snprintf(buf, CELL_MAX, "%s/%s", k ? k->singular : "", name ? name : "");
	return buf;
}

/* A text of the object's, or one in buf. */
static const char *cell(const struct column *c, const json_t *object, char buf[static CELL_MAX])
{
	const char *reason, *message;
	struct verdict v;

	switch (c->from) {
	case FROM_PATH:
		return json_str(object, c->what);
	case FROM_PHASE:
		verdict_of(object, &v);
		/* as kubectl has it of pods; the object keeps its phase */
		return json_get(object, "metadata.deletionTimestamp") && v.state != VERDICT_ENDED
			       ? "Terminating"
			       : json_str(object, "status.phase");
	case FROM_CONDITION:
		return columns_condition(object, c->what);
	case FROM_AGE:
		return age_since(json_str(object, "metadata.creationTimestamp"), time(NULL), buf);
	case FROM_LAST_SEEN:
		return age_since(json_str(object, "lastTimestamp"), time(NULL), buf);
	case FROM_FIRST_SEEN:
		return age_since(json_str(object, "firstTimestamp"), time(NULL), buf);
	case FROM_READY_NODE:
		return str_eq(columns_condition(object, "Ready"), "True") ? "Ready" : "NotReady";
	case FROM_DELETION:
		return json_get(object, "metadata.deletionTimestamp") ? "Terminating" : "Active";
	case FROM_INVOLVED:
		return involved(object, buf);
	case FROM_COUNT:
		(void)snprintf(buf, CELL_MAX, "%llu",
			       (unsigned long long)json_u64(object, "count", 1));
		return buf;
	case FROM_REASON:
	case FROM_MESSAGE:
		verdict_why(object, &reason, &message);
		return c->from == FROM_REASON ? reason : message;
	}
	return "";
}

/* Of an event its object is the name. */
static bool has_name(const struct kind *k)
{
	return !str_eq(k->kind, "Event");
}

#define ROOM_NAMESPACE 12
#define ROOM_NAME      20

void columns_leave_room(struct table *t, const struct kind *k, bool ns, bool wide)
{
	size_t n = 0;

	if (ns)
		table_widen(t, n++, ROOM_NAMESPACE);
	if (has_name(k))
		table_widen(t, n++, ROOM_NAME);
	for (const struct column *c = columns_of(k); c->title; c++)
		if (wide || !c->wide)
			table_widen(t, n++, c->room);
}

char *columns_text(const struct kind *k, bool wide, const json_t *object)
{
	/* an event that is counted again is another row, though only its ages differ */
	const char *last = json_str(object, "lastTimestamp");
	char *all = xasprintf("%s%llu", last ? last : "",
			      (unsigned long long)json_u64(object, "count", 0));

	for (const struct column *c = columns_of(k); c->title; c++) {
		bool age = c->from == FROM_AGE || c->from == FROM_LAST_SEEN ||
			   c->from == FROM_FIRST_SEEN;
		char buf[CELL_MAX], *more;
		const char *text;

		if (age || (c->wide && !wide))
			continue;
		text = cell(c, object, buf);
		more = xasprintf("%s\n%s", all, text ? text : "");
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
	if (has_name(k))
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
	char bufs[TABLE_COLUMNS][CELL_MAX];
	size_t n = 0;

	if (ns)
		texts[n++] = object_namespace(object);
	if (has_name(k))
		texts[n++] = object_name(object)[0] ? object_name(object) : "default";
	for (const struct column *c = columns_of(k); c->title; c++)
		if (wide || !c->wide) {
			texts[n] = cell(c, object, bufs[n]);
			n++;
		}
	table_row(t, texts);
}
