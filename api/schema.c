// SPDX-License-Identifier: Apache-2.0
#include "api/schema.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/quantity.h"
#include "api/schema_hint.h"

#define PATH_LIMIT 1024 /* longer paths are cut in messages; checking goes on */

struct walk {
	struct causes *causes;
	struct schema_level levels[SCHEMA_DEPTH];
	size_t n_levels;
	char path[PATH_LIMIT];
	size_t len;
	bool quiet; /* inside what is not built: one cause for the whole is enough */
};

/* Both return the length to go back to. */
static size_t push_name(struct walk *w, const char *name)
{
	size_t before = w->len;
	const char *dot = w->len > 0 ? "." : "";
	int n;

	if (strpbrk(name, ".[]"))
		n = snprintf(w->path + w->len, PATH_LIMIT - w->len, "[%.300s]", name);
	else
		n = snprintf(w->path + w->len, PATH_LIMIT - w->len, "%s%.300s", dot, name);
	w->len = w->len + (size_t)n < PATH_LIMIT ? w->len + (size_t)n : PATH_LIMIT - 1;
	return before;
}

static size_t push_index(struct walk *w, size_t index)
{
	size_t before = w->len;
	int n = snprintf(w->path + w->len, PATH_LIMIT - w->len, "[%zu]", index);

	w->len = w->len + (size_t)n < PATH_LIMIT ? w->len + (size_t)n : PATH_LIMIT - 1;
	return before;
}

static void pop(struct walk *w, size_t len)
{
	w->len = len;
	w->path[len] = '\0';
}

/* "the string "4"", "a map": what is there, for messages. */
static char *describe(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return xstrdup("a map");
	case JSON_ARRAY:
		return xstrdup("a list");
	case JSON_STRING:
		return xasprintf("the string \"%.60s\"", json_string_value(value));
	case JSON_INTEGER:
		return xasprintf("the number %" JSON_INTEGER_FORMAT, json_integer_value(value));
	case JSON_REAL:
		return xasprintf("the number %.15g", json_real_value(value));
	case JSON_TRUE:
		return xstrdup("the boolean true");
	case JSON_FALSE:
		return xstrdup("the boolean false");
	case JSON_NULL:
		break;
	}
	return xstrdup("null");
}

static const char *type_name(enum field_type type)
{
	switch (type) {
	case F_STRING:
		return "a string";
	case F_BOOL:
		return "true or false";
	case F_INT:
	case F_UINT:
	case F_COUNT:
		return "a number";
	case F_QUANTITY:
		return "a quantity such as 512Mi";
	case F_PORT:
		return "a port number or name";
	case F_LIST:
	case F_STRINGS:
		return "a list";
	case F_OBJECT:
	case F_MAP:
	case F_QUANTITIES:
	case F_OBJECTS:
	case F_EMPTY:
		return "a map";
	case F_ANY:
		return "a map or a list";
	}
	return "";
}

static bool looks_like_int(const char *s)
{
	size_t digits = strspn(s + (*s == '-'), "0123456789");

	return digits > 0 && s[(*s == '-') + digits] == '\0';
}

/* Is `text` what the author meant to be of this type, only quoted? */
static bool only_quoted(enum field_type type, const char *text)
{
	if (type == F_INT || type == F_UINT || type == F_COUNT)
		return looks_like_int(text);
	return type == F_BOOL && (!strcmp(text, "true") || !strcmp(text, "false"));
}

/* The first field of a table that would take the value: {cores: 4} for `cpu: 4`. */
static char *example(const struct schema *child, const json_t *value)
{
	_cleanup_free_ char *text = json_dumps(value, JSON_ENCODE_ANY);

	for (const struct field *f = child->fields; f->name && text; f++) {
		if ((json_is_integer(value) &&
		     (f->type == F_COUNT || f->type == F_UINT || f->type == F_QUANTITY)) ||
		    (json_is_string(value) && (f->type == F_STRING || f->type == F_QUANTITY)) ||
		    (json_is_boolean(value) && f->type == F_BOOL))
			return xasprintf("{%s: %.60s}", f->name,
					 json_is_string(value) ? json_string_value(value) : text);
	}
	return NULL;
}

/* What to write instead, or "". */
static char *cure(const struct field *f, const json_t *value)
{
	const char *text = json_string_value(value);
	_cleanup_free_ char *map = NULL;

	if (text && only_quoted(f->type, text))
		return xasprintf(": write %s: %s without quotes", f->name, text);
	if (f->type == F_STRING && json_is_boolean(value))
		return xasprintf(": put the word in quotes (YAML reads yes, no, on, off, y and n "
				 "as true and false)");
	if (f->type == F_STRING && json_is_number(value)) /* it may be written as 0x10 or 1.10 */
		return xstrdup(": put it in quotes");
	if ((f->type == F_LIST || f->type == F_STRINGS) && !json_is_array(value))
		return xstrdup(": begin each item with \"- \"");
	if (f->type == F_OBJECT && !json_is_object(value) && !json_is_array(value))
		map = example(f->child, value);
	return map ? xasprintf(" such as %s: %s", f->name, map) : xstrdup("");
}

static void wrong_type(struct walk *w, const struct field *f, const json_t *value)
{
	_cleanup_free_ char *there = describe(value);
	_cleanup_free_ char *instead = cure(f, value);

	cause_add(w->causes, CAUSE_INVALID, w->path, "is %s, must be %s%s", there,
		  type_name(f->type), instead);
}

static void check_quantity(struct walk *w, const struct field *f, const json_t *value)
{
	struct quantity quantity;
	struct err err = {0};

	if (!json_is_string(value) && !json_is_number(value))
		wrong_type(w, f, value);
	else if (quantity_from_json(value, &quantity, &err) < 0)
		cause_add(w->causes, CAUSE_INVALID, w->path, "%s", err.msg);
}

static void check_number(struct walk *w, const struct field *f, const json_t *value)
{
	json_int_t number = json_integer_value(value);
	long long max = f->type == F_INT ? INT64_MAX : UINT32_MAX;

	/* whole numbers that a json_t can't hold are reals, too */
	if (json_is_real(value) && fabs(json_real_value(value)) >= 0x1p63)
		cause_add(w->causes, CAUSE_INVALID, w->path, "is %.15g, must be from %lld to %lld",
			  json_real_value(value),
			  f->type == F_INT ? (long long)INT64_MIN : (long long)(f->type == F_COUNT),
			  max);
	else if (json_is_real(value))
		cause_add(w->causes, CAUSE_INVALID, w->path,
			  "is %.15g, must be a whole number, written without point or exponent",
			  json_real_value(value));
	else if (!json_is_integer(value))
		wrong_type(w, f, value);
	else if (f->type == F_COUNT && number == 0)
		cause_add(w->causes, CAUSE_INVALID, w->path,
			  "is 0, must be at least 1: leave it out for the default");
	else if (f->type != F_INT && (number < 0 || number > UINT32_MAX))
		cause_add(w->causes, CAUSE_INVALID, w->path,
			  "is %" JSON_INTEGER_FORMAT ", must be from %d to %u", number,
			  f->type == F_COUNT, UINT32_MAX);
}

static void check_object(struct walk *w, const struct schema *schema, const json_t *obj);
static void check_value(struct walk *w, const struct field *f, const json_t *value);

static void check_items(struct walk *w, const struct field *f, const json_t *list)
{
	const struct field item = {f->name, f->type == F_LIST ? F_OBJECT : F_STRING, true, f->child,
				   NULL};
	const json_t *value;
	size_t i;

	json_array_foreach (list, i, value) {
		size_t before = push_index(w, i);

		check_value(w, &item, value);
		pop(w, before);
	}
}

/* A map with free keys: each value as one of F_STRING, F_QUANTITY or F_OBJECT. */
static void check_entries(struct walk *w, const struct field *f, const json_t *map)
{
	enum field_type type = f->type == F_MAP	      ? F_STRING
			       : f->type == F_OBJECTS ? F_OBJECT
						      : F_QUANTITY;
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)map, key, value) {
		const struct field entry = {key, type, true, f->child, NULL};
		size_t before = push_name(w, key);

		if (!json_is_null(value))
			check_value(w, &entry, value);
		pop(w, before);
	}
}

static void check_value(struct walk *w, const struct field *f, const json_t *value)
{
	if (json_is_null(value) || (f->type != F_PORT && !schema_shape_fits(f->type, value))) {
		wrong_type(w, f, value);
		return;
	}
	switch (f->type) {
	case F_STRING:
		if (!json_is_string(value))
			wrong_type(w, f, value);
		break;
	case F_BOOL:
		if (!json_is_boolean(value))
			wrong_type(w, f, value);
		break;
	case F_PORT:
		if (!json_is_string(value) && !json_is_integer(value))
			wrong_type(w, f, value);
		break;
	case F_INT:
	case F_UINT:
	case F_COUNT:
		check_number(w, f, value);
		break;
	case F_QUANTITY:
		check_quantity(w, f, value);
		break;
	case F_OBJECT:
		check_object(w, f->child, value);
		break;
	case F_LIST:
	case F_STRINGS:
		check_items(w, f, value);
		break;
	case F_MAP:
	case F_QUANTITIES:
	case F_OBJECTS:
		check_entries(w, f, value);
		break;
	case F_EMPTY:
		if (json_object_size(value) > 0)
			cause_add(w->causes, CAUSE_FORBIDDEN, w->path,
				  "has fields, must be empty: {}");
		break;
	case F_ANY:
		break;
	}
}

static void unknown_field(struct walk *w, const char *name, const json_t *value, size_t parent_len)
{
	const struct schema *schema = w->levels[w->n_levels - 1].schema;
	_cleanup_free_ char *parent = xstrndup(w->path, parent_len);
	_cleanup_free_ char *hint = schema_hint(w->levels, w->n_levels, parent, name, value);

	if (schema->others && !hint)
		cause_add(w->causes, CAUSE_NOT_SUPPORTED, w->path, "%s", schema->others);
	else
		cause_add(w->causes, CAUSE_FORBIDDEN, w->path, "is not a field%s%s",
			  hint ? ": " : " of this object: the API has none of that name",
			  hint ? hint : "");
}

static const struct field *find_field(const struct schema *schema, const char *name)
{
	for (const struct field *f = schema->fields; f->name; f++) {
		if (!strcmp(f->name, name))
			return f;
	}
	return NULL;
}

static void check_member(struct walk *w, const struct schema *schema, const char *name,
			 const json_t *value)
{
	const struct field *f = find_field(schema, name);
	size_t before = push_name(w, name);
	bool quiet = w->quiet;

	if (!f) {
		unknown_field(w, name, value, before);
	} else {
		if (!f->built && !quiet) {
			cause_add(w->causes, CAUSE_NOT_SUPPORTED, w->path, NOT_YET "%s%s",
				  f->instead ? ": " : "", f->instead ? f->instead : "");
			w->quiet = true;
		}
		check_value(w, f, value);
	}
	w->quiet = quiet;
	pop(w, before);
}

static void check_object(struct walk *w, const struct schema *schema, const json_t *obj)
{
	const char *name;
	json_t *value;

	if (w->n_levels == SCHEMA_DEPTH)
		return; /* no schema is that deep */
	w->levels[w->n_levels++] = (struct schema_level){schema, w->len};
	json_object_foreach ((json_t *)obj, name, value) {
		if (!json_is_null(value) || !find_field(schema, name))
			check_member(w, schema, name, value);
	}
	w->n_levels--;
}

void schema_check(const struct schema *schema, const json_t *obj, struct causes *causes)
{
	struct walk w = {.causes = causes};

	if (json_is_object(obj))
		check_object(&w, schema, obj);
	else
		cause_add(causes, CAUSE_INVALID, "",
			  "must be a map with apiVersion, kind, metadata");
}
