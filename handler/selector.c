// SPDX-License-Identifier: Apache-2.0
#include "handler/selector.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>

#define TERMS_MAX  64 /* far above what anybody writes */
#define VALUES_MAX 256

enum op {
	OP_IN,	   /* has the key, with one of the values */
	OP_NOT_IN, /* has not the key, or none of the values */
	OP_EXISTS,
	OP_ABSENT,
};

struct term {
	char *key;
	enum op op;
	char **values;
	size_t n;
};

struct selector {
	struct term labels[TERMS_MAX];
	size_t n_labels;
	struct term fields[TERMS_MAX];
	size_t n_fields;
};

static void term_done(struct term *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->values[i]);
	free(t->values);
	free(t->key);
}

void selector_free(struct selector *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_labels; i++)
		term_done(&s->labels[i]);
	for (size_t i = 0; i < s->n_fields; i++)
		term_done(&s->fields[i]);
	free(s);
}

static void skip_blanks(const char **p)
{
	*p += strspn(*p, " \t");
}

/* Letters of keys and values; "" when something else stands there. */
static char *word(const char **p)
{
	size_t len;
	char *w;

	skip_blanks(p);
	len = strcspn(*p, " \t,=!()");
	w = xstrndup(*p, len);
	*p += len;
	skip_blanks(p);
	return w;
}

static void add_value(struct term *t, char *value_consume)
{
	t->values = xrealloc(t->values, t->n + 1, sizeof *t->values);
	t->values[t->n++] = value_consume;
}

/* "(a, b)" of in and notin. */
static int parse_set(const char **p, struct term *t, struct err *err)
{
	skip_blanks(p);
	if (**p != '(')
		return err_set(err, -EINVAL, "a list in brackets must follow 'in' and 'notin'");
	do {
		++*p;
		if (t->n == VALUES_MAX)
			return err_set(err, -EINVAL, "more than %d values in brackets", VALUES_MAX);
		add_value(t, word(p));
	} while (**p == ',');
	if (**p != ')')
		return err_set(err, -EINVAL, "the bracket that was opened is not closed");
	++*p;
	skip_blanks(p);
	return 0;
}

/* What follows the key: an operator with its value, or nothing. */
static int parse_operator(const char **p, bool sets, struct term *t, struct err *err)
{
	bool negated = **p == '!';
	_cleanup_free_ char *name = NULL;

	if (**p == '=' || (negated && (*p)[1] == '=')) {
		*p += negated ? 2 : (*p)[1] == '=' ? 2 : 1;
		t->op = negated ? OP_NOT_IN : OP_IN;
		add_value(t, word(p));
		return 0;
	}
	if (!sets)
		return err_set(err, -EINVAL, "'%.100s' needs =, == or != and a value", t->key);
	if (**p == ',' || **p == 0) {
		t->op = OP_EXISTS;
		return 0;
	}
	name = word(p);
	if (!str_eq(name, "in") && !str_eq(name, "notin"))
		return err_set(err, -EINVAL,
			       "after '%.100s' stands '%.100s'; known are =, ==, !=, in, notin",
			       t->key, name);
	t->op = str_eq(name, "in") ? OP_IN : OP_NOT_IN;
	return parse_set(p, t, err);
}

static int parse_term(const char **p, bool sets, struct term *t, struct err *err)
{
	bool absent;

	skip_blanks(p);
	absent = sets && **p == '!';
	*p += absent;
	t->key = word(p);
	if (!t->key[0])
		return err_set(err, -EINVAL, "a key is missing before '%.100s'", *p);
	if (!absent)
		return parse_operator(p, sets, t, err);
	t->op = OP_ABSENT;
	return 0;
}

static int parse_terms(const char *text, bool sets, struct term *terms, size_t *n, struct err *err)
{
	int r = 0;

	if (!text || !text[strspn(text, " \t")])
		return 0;
	for (;;) {
		if (*n == TERMS_MAX)
			return err_set(err, -EINVAL, "more than %d terms", TERMS_MAX);
		r = parse_term(&text, sets, &terms[(*n)++], err);
		if (r < 0 || *text == 0)
			return r;
		if (*text != ',')
			return err_set(err, -EINVAL, "a comma is missing before '%.100s'", text);
		text++;
	}
}

/* Fields of events, by the names that Kubernetes gives them. */
static const struct {
	const char *field, *path;
} event_fields[] = {
	{"involvedObject.kind", "involvedObject.kind"},
	{"involvedObject.namespace", "involvedObject.namespace"},
	{"involvedObject.name", "involvedObject.name"},
	{"involvedObject.uid", "involvedObject.uid"},
	{"involvedObject.apiVersion", "involvedObject.apiVersion"},
	{"involvedObject.resourceVersion", "involvedObject.resourceVersion"},
	{"involvedObject.fieldPath", "involvedObject.fieldPath"},
	{"reason", "reason"},
	{"type", "type"},
	{"source", "source.component"},
	{"reportingComponent", "reportingComponent"},
};

static const char *event_path(const char *field)
{
	for (size_t i = 0; i < ARRAY_SIZE(event_fields); i++)
		if (str_eq(event_fields[i].field, field))
			return event_fields[i].path;
	return NULL;
}

static int check_field(const struct kind *k, const char *field, struct err *err)
{
	bool event = str_eq(k->kind, "Event");

	if (str_eq(field, "metadata.name") || str_eq(field, "metadata.namespace") ||
	    (event && event_path(field)))
		return 0;
	return err_set(
		err, -EINVAL,
		"field label not supported: %.100s; metadata.name%s metadata.namespace%s are",
		field, event ? "," : " and",
		event ? ", involvedObject.{kind,namespace,name,uid,apiVersion,"
			"resourceVersion,fieldPath}, reason, type, source and "
			"reportingComponent"
		      : "");
}

int selector_parse(const struct kind *k, const char *labels, const char *fields,
		   struct selector **ret, struct err *err)
{
	_cleanup_(selector_freep) struct selector *s = xcalloc(1, sizeof *s);
	int r = parse_terms(labels, /* sets= */ true, s->labels, &s->n_labels, err);

	if (r < 0) {
		err_prefix(err, "labelSelector");
		return r;
	}
	r = parse_terms(fields, /* sets= */ false, s->fields, &s->n_fields, err);
	if (r < 0) {
		err_prefix(err, "fieldSelector");
		return r;
	}
	for (size_t i = 0; r == 0 && i < s->n_fields; i++)
		r = check_field(k, s->fields[i].key, err);
	if (r == 0)
		*ret = TAKE_PTR(s);
	return r;
}

static bool term_matches(const struct term *t, const char *value)
{
	bool found = false;

	switch (t->op) {
	case OP_EXISTS:
		return value;
	case OP_ABSENT:
		return !value;
	case OP_IN:
	case OP_NOT_IN:
		break;
	}
	for (size_t i = 0; value && !found && i < t->n; i++)
		found = str_eq(t->values[i], value);
	return found == (t->op == OP_IN);
}

/* As Kubernetes has it, a field that is absent is an empty text. */
static const char *field_value(const json_t *object, const char *field)
{
	const char *value;

	if (str_eq(field, "metadata.name"))
		return object_name(object);
	if (str_eq(field, "metadata.namespace"))
		return object_namespace(object);
	value = json_str(object, event_path(field));
	return value ? value : "";
}

bool selector_matches(const struct selector *s, const json_t *object)
{
	const json_t *labels = json_get(object, "metadata.labels");

	for (size_t i = 0; i < s->n_labels; i++)
		if (!term_matches(&s->labels[i],
				  json_string_value(json_object_get(labels, s->labels[i].key))))
			return false;
	for (size_t i = 0; i < s->n_fields; i++)
		if (!term_matches(&s->fields[i], field_value(object, s->fields[i].key)))
			return false;
	return true;
}

static void keep(json_t *to, const json_t *from, const char *path)
{
	json_t *value = json_get(from, path);

	if (value)
		(void)json_path_set(to, path, json_deep_copy(value));
}

json_t *selector_part(const json_t *object)
{
	json_t *part = json_object();

	keep(part, object, "metadata.name");
	keep(part, object, "metadata.namespace");
	keep(part, object, "metadata.labels");
	if (!json_object_get(object, "involvedObject"))
		return part;
	for (size_t i = 0; i < ARRAY_SIZE(event_fields); i++)
		keep(part, object, event_fields[i].path);
	return part;
}
