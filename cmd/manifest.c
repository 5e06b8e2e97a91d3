// SPDX-License-Identifier: Apache-2.0
#include "cmd/manifest.h"

#include "cmd/label.h"

#include "api/admit.h"
#include "api/meta.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct loader {
	struct manifest *to;
	const char *ns;
	int first_error; /* the errno of the first file that couldn't be read, else -EINVAL */
};

__attribute__((format(printf, 3, 4))) static void complain(struct loader *l, int code,
							   const char *fmt, ...)
{
	char text[ERR_MSG_MAX * 2];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	log_error("%s", text);
	l->to->errors++;
	if (!l->first_error || l->first_error == -EINVAL)
		l->first_error = code;
}

const char *manifest_ns(const struct manifest_item *item)
{
	return item->kind->namespaced ? object_namespace(item->object) : NULL;
}

char *manifest_label(const struct manifest_item *item)
{
	return label_object(item->kind, item->object);
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

static void item_done(struct manifest_item *item)
{
	json_decref(item->object);
	json_decref(item->admitted);
	free(item->place);
	*item = (struct manifest_item){0};
}

static void print_causes(struct loader *l, const struct causes *causes, const struct yaml_doc *doc,
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
		complain(l, -EINVAL, "%s", text);
	}
	if (causes->more)
		complain(l, -EINVAL, "%s: and %zu more", yaml_doc_name(doc), causes->more);
}

/* kubectl's rule: -n must not contradict what is written. */
static bool namespace_fits(struct loader *l, struct manifest_item *item)
{
	const char *written = json_str(item->object, "metadata.namespace");

	if (!item->kind->namespaced || !l->ns)
		return true;
	if (written && !str_eq(written, l->ns)) {
		complain(l, -EINVAL, "%s: metadata.namespace: is %s, but -n says %s", item->place,
			 written, l->ns);
		return false;
	}
	(void)json_path_set(item->object, "metadata.namespace", json_string(l->ns));
	return true;
}

static void take_object(struct loader *l, const struct yaml_doc *doc, json_t *object,
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

		complain(l, -EINVAL, "%s: %s: is in %s already", item.place, label, other->place);
		goto out;
	}
	append(l->to, &item);
out:
	item_done(&item);
}

static void take_document(struct loader *l, const struct yaml_doc *doc)
{
	json_t *root = yaml_doc_root(doc), *object;
	size_t i;

	if (!json_is_object(root)) {
		complain(l, -EINVAL,
			 "%s:%u: is no Kubernetes object: must have apiVersion and kind",
			 yaml_doc_name(doc), yaml_doc_line(doc, "", false));
		return;
	}
	if (!str_eq(json_str(root, "kind"), "List")) {
		take_object(l, doc, root, "");
		return;
	}
	if (!json_is_array(json_object_get(root, "items")))
		complain(l, -EINVAL, "%s:%u: items: must be a list of objects", yaml_doc_name(doc),
			 yaml_doc_line(doc, "items", true));
	json_array_foreach (json_object_get(root, "items"), i, object) {
		_cleanup_free_ char *under = xasprintf("items[%zu]", i);

		take_object(l, doc, object, under);
	}
}

static void take_text(struct loader *l, const char *name, const char *text, size_t len)
{
	struct yaml_doc **docs = NULL;
	struct err err = {0};
	size_t n = 0;

	if (yaml_parse(name, text, len, &docs, &n, &err) < 0) {
		complain(l, -EINVAL, "%s", err.msg);
		return;
	}
	for (size_t i = 0; i < n; i++)
		take_document(l, docs[i]);
	yaml_docs_free(docs, n);
}

static void take_fd(struct loader *l, const char *name, int fd)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = file_read_fd(fd, YAML_BYTES_MAX, &text, &len);

	if (r == -EFBIG)
		complain(l, -EINVAL,
			 "%s: more than %u bytes; at most that many are taken: split it", name,
			 YAML_BYTES_MAX);
	else if (r < 0)
		complain(l, r, "%s: %s", name, strerror(-r));
	else
		take_text(l, name, text, len);
}

static int is_manifest(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return e->d_name[0] != '.' &&
	       (str_eq(dot, ".yaml") || str_eq(dot, ".yml") || str_eq(dot, ".json"));
}

static void take_folder(struct loader *l, const char *path, int fd)
{
	struct dirent **names = NULL;
	int n = scandirat(fd, ".", &names, is_manifest, alphasort);

	if (n < 0)
		complain(l, -errno, "%s: %s", path, strerror(errno));
	if (n == 0)
		complain(l, -ENOENT, "%s: has no *.yaml, *.yml or *.json", path);
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *name = xasprintf(
			"%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", names[i]->d_name);
		_cleanup_fd_ int file = openat(fd, names[i]->d_name, O_RDONLY | O_CLOEXEC);

		if (file < 0)
			complain(l, -errno, "%s: %s", name, strerror(errno));
		else
			take_fd(l, name, file);
		free(names[i]);
	}
	free(names);
}

static void take_path(struct loader *l, const char *path)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;

	if (str_eq(path, "-")) {
		take_fd(l, "stdin", STDIN_FILENO);
		return;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		complain(l, -errno, "%s: %s", *path ? path : "-f ''", strerror(errno));
	else if (S_ISDIR(st.st_mode))
		take_folder(l, path, fd);
	else
		take_fd(l, path, fd);
}

/* Namespaces, then the other configuration, then the rest; otherwise as they were written. */
static int rank(const struct manifest_item *item)
{
	return str_eq(item->kind->kind, "Namespace") ? 0 : item->kind->configuration ? 1 : 2;
}

static void put_in_order(struct manifest *m)
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

int manifest_load(const struct texts *paths, const char *ns, struct manifest *ret)
{
	struct loader l = {.to = ret, .ns = ns};

	*ret = (struct manifest){0};
	for (size_t i = 0; i < paths->n; i++)
		take_path(&l, paths->v[i]);
	if (ret->n == 0 && !ret->errors)
		complain(&l, -EINVAL, "%s: no object in it", paths->n ? paths->v[0] : "-f");
	put_in_order(ret);
	return l.first_error;
}

void manifest_done(struct manifest *m)
{
	for (size_t i = 0; i < m->n; i++)
		item_done(&m->items[i]);
	free(m->items);
	*m = (struct manifest){0};
}
