// SPDX-License-Identifier: Apache-2.0
#include "cmd/columns.h"

#include "cmd/age.h"

#include "api/meta.h"
#include "lib/json.h"

enum from { FROM_PATH, FROM_CONDITION, FROM_AGE, FROM_READY_NODE };

struct column {
	const char *title;
	enum from from;
	const char *what; /* field path, or condition */
	bool wide;	  /* only with -o wide */
};

static const struct column vmi_columns[] = {
	{"AGE", FROM_AGE, NULL, false},
	{"PHASE", FROM_PATH, "status.phase", false},
	{"IP", FROM_PATH, "status.interfaces[0].ipAddress", false},
	{"NODENAME", FROM_PATH, "status.nodeName", false},
	{"READY", FROM_CONDITION, "Ready", false},
	{"LIVE-MIGRATABLE", FROM_CONDITION, "LiveMigratable", true},
	{"PAUSED", FROM_CONDITION, "Paused", true},
	{NULL},
};
static const struct column vm_columns[] = {
	{"AGE", FROM_AGE, NULL, false},
	{"STATUS", FROM_PATH, "status.printableStatus", false},
	{"READY", FROM_CONDITION, "Ready", false},
	{NULL},
};
static const struct column kubevirt_columns[] = {
	{"AGE", FROM_AGE, NULL, false},
	{"PHASE", FROM_PATH, "status.phase", false},
	{NULL},
};
static const struct column node_columns[] = {
	{"STATUS", FROM_READY_NODE, NULL, false},
	{"AGE", FROM_AGE, NULL, false},
	{"VERSION", FROM_PATH, "status.nodeInfo.kubeletVersion", false},
	{"KERNEL-VERSION", FROM_PATH, "status.nodeInfo.kernelVersion", true},
	{NULL},
};
static const struct column namespace_columns[] = {
	{"STATUS", FROM_PATH, "status.phase", false},
	{"AGE", FROM_AGE, NULL, false},
	{NULL},
};
static const struct column plain_columns[] = {
	{"AGE", FROM_AGE, NULL, false},
	{NULL},
};

static const struct column *columns_of(const struct kind *k)
{
	static const struct {
		const char *kind;
		const struct column *columns;
	} known[] = {
		{"VirtualMachineInstance", vmi_columns}, {"VirtualMachine", vm_columns},
		{"KubeVirt", kubevirt_columns},		 {"Node", node_columns},
		{"Namespace", namespace_columns},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (str_eq(known[i].kind, k->kind))
			return known[i].columns;
	return plain_columns;
}

const char *columns_condition(const json_t *object, const char *type)
{
	const json_t *c;
	size_t i;

	json_array_foreach (json_get(object, "status.conditions"), i, c)
		if (str_eq(json_str(c, "type"), type))
			return json_str(c, "status") ? json_str(c, "status") : "";
	return "";
}

static const char *cell(const struct column *c, const json_t *object, char age[static AGE_MAX])
{
	switch (c->from) {
	case FROM_PATH:
		return json_str(object, c->what);
	case FROM_CONDITION:
		return columns_condition(object, c->what);
	case FROM_AGE:
		return age_since(json_str(object, "metadata.creationTimestamp"), time(NULL), age);
	case FROM_READY_NODE:
		return str_eq(columns_condition(object, "Ready"), "True") ? "Ready" : "NotReady";
	}
	return "";
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
