// SPDX-License-Identifier: Apache-2.0
#include "api/manifest.h"

#include "api/admit.h"
#include "api/label.h"
#include "api/meta.h"
#include "lib/json.h"
#include "lib/util.h"
#include "lib/yaml.h"

#include <string.h>

struct reader {
	struct manifest *to;
	const char *ns;
	manifest_complain_fn fn;
	void *arg;
};

__attribute__((format(printf, 2, 3))) static void complain(struct reader *l, const char *fmt, ...)
{
	char text[ERR_MSG_MAX * 2];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	l->to->errors++;
	l->fn(l->arg, text);
}

const char *manifest_ns(const struct manifest_item *item)
{
	return item->kind->namespaced ? object_namespace(item->object) : NULL;
}

char *manifest_label(const struct manifest_item *item)
{
	return label_object(item->kind, item->object);
}

bool manifest_is_file(const char *name)
{
	const char *dot = strrchr(name, '.');

	return name[0] != '.' &&
	       (str_eq(dot, ".yaml") || str_eq(dot, ".yml") || str_eq(dot, ".json"));
}

/* The same object twice: the second would only say "already there". */
static const struct manifest_item *same_object(const struct manifest *m,
					       const struct manifest_item *item)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct manifest_item *o = &m->items[i];

		if (o->kind == item->kind && object_name(item->object)[0] &&
		    str_eq(object_name(o->object), object_name(item->object)) &&
		    str_eq(manifest_ns(o), manifest_ns(item)))
			return o;
		if (o->kind == item->kind && o->kind->singleton)
			return o;
	}
	return NULL;
}

static void append(struct manifest *m, struct manifest_item *item)
{
	m->items = xrealloc(m->items, m->n + 1, sizeof m->items[0]);
	m->items[m->n++] = *item;
	*item = (struct manifest_item){0};
}

void manifest_item_done(struct manifest_item *item)
{
	json_decref(item->object);
	json_decref(item->admitted);
	free(item->place);
	*item = (struct manifest_item){0};
}

static void print_causes(struct reader *l, const struct causes *causes, const struct yaml_doc *doc,
			 const char *under)
{
	for (size_t i = 0; i < causes->n; i++) {
		struct cause c = causes->list[i];
		/* the document's own path, also of an item of a List, finds the line */
		_cleanup_free_ char *field =
			xasprintf("%s%s%s", under, *under && *c.field ? "." : "", c.field);
		_cleanup_free_ char *text = NULL;

		c.field = field;
		text = cause_text(&c, doc);
		complain(l, "%s", text);
	}
	if (causes->more)
		complain(l, "%s: and %zu more", yaml_doc_name(doc), causes->more);
}

/* kubectl's rule: -n must not contradict what is written. */
static bool namespace_fits(struct reader *l, struct manifest_item *item)
{
	const char *written = json_str(item->object, "metadata.namespace");

	if (!item->kind->namespaced || !l->ns)
		return true;
	if (written && !str_eq(written, l->ns)) {
		complain(l, "%s: metadata.namespace: is %s, but -n says %s", item->place, written,
			 l->ns);
		return false;
	}
	(void)json_path_set(item->object, "metadata.namespace", json_string(l->ns));
	return true;
}

static void take_object(struct reader *l, const struct yaml_doc *doc, json_t *object,
			const char *under)
{
	struct manifest_item item = {.object = json_incref(object)};
	_cleanup_causes_ struct causes causes = {0};
	const struct manifest_item *other;

	item.place = xasprintf("%s:%u", yaml_doc_name(doc), yaml_doc_line(doc, under, false));
	item.admitted = json_deep_copy(object);
	if (admit(item.admitted, l->ns, &item.kind, &causes) < 0 || !item.kind) {
		print_causes(l, &causes, doc, under);
		goto out;
	}
	if (!namespace_fits(l, &item))
		goto out;
	other = same_object(l->to, &item);
	if (other) {
		_cleanup_free_ char *label = manifest_label(&item);

		complain(l, "%s: %s: is in %s already", item.place, label, other->place);
		goto out;
	}
	append(l->to, &item);
out:
	manifest_item_done(&item);
}

static void take_document(struct reader *l, const struct yaml_doc *doc)
{
	json_t *root = yaml_doc_root(doc), *object;
	size_t i;

	if (!json_is_object(root)) {
		complain(l, "%s:%u: is no Kubernetes object: must have apiVersion and kind",
			 yaml_doc_name(doc), yaml_doc_line(doc, "", false));
		return;
	}
	if (!str_eq(json_str(root, "kind"), "List")) {
		take_object(l, doc, root, "");
		return;
	}
	if (!json_is_array(json_object_get(root, "items")))
		complain(l, "%s:%u: items: must be a list of objects", yaml_doc_name(doc),
			 yaml_doc_line(doc, "items", true));
	json_array_foreach (json_object_get(root, "items"), i, object) {
		_cleanup_free_ char *under = xasprintf("items[%zu]", i);

		take_object(l, doc, object, under);
	}
}

void manifest_take(struct manifest *m, const char *name, const char *text, size_t len,
		   const char *ns, manifest_complain_fn fn, void *arg)
{
	struct reader reader = {.to = m, .ns = ns, .fn = fn, .arg = arg}, *l = &reader;
	struct yaml_doc **docs = NULL;
	struct err err = {0};
	size_t n = 0;

	if (yaml_parse(name, text, len, &docs, &n, &err) < 0) {
		complain(l, "%s", err.msg);
		return;
	}
	for (size_t i = 0; i < n; i++)
		take_document(l, docs[i]);
	yaml_docs_free(docs, n);
}

/* Namespaces, then the other configuration, then the rest; otherwise as they were written. */
static int rank(const struct manifest_item *item)
{
	return str_eq(item->kind->kind, "Namespace") ? 0 : item->kind->configuration ? 1 : 2;
}

void manifest_sort(struct manifest *m)
{
	struct manifest_item *sorted = xcalloc(m->n, sizeof *sorted);
	size_t at = 0;

	for (int wanted = 0; wanted <= 2; wanted++)
		for (size_t i = 0; i < m->n; i++)
			if (rank(&m->items[i]) == wanted)
				sorted[at++] = m->items[i];
	free(m->items);
	m->items = sorted;
}

void manifest_done(struct manifest *m)
{
	for (size_t i = 0; i < m->n; i++)
		manifest_item_done(&m->items[i]);
	free(m->items);
	*m = (struct manifest){0};
}
