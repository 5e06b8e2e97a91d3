// SPDX-License-Identifier: Apache-2.0
#include "api/schema_hint.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "lib/util.h"

#define NAME_LIMIT 48 /* longer names are not compared */

bool schema_shape_fits(enum field_type type, const json_t *value)
{
	switch (type) {
	case F_STRING:
	case F_BOOL:
	case F_INT:
	case F_UINT:
	case F_COUNT:
	case F_QUANTITY:
	case F_PORT:
		return !json_is_object(value) && !json_is_array(value);
	case F_LIST:
	case F_STRINGS:
		return json_is_array(value);
	case F_OBJECT:
	case F_MAP:
	case F_QUANTITIES:
	case F_OBJECTS:
	case F_EMPTY:
		return json_is_object(value);
	case F_ANY:
		return json_is_object(value) || json_is_array(value);
	}
	return false;
}

/* Edits (insert, delete, replace) that turn a into b, ignoring case. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_LIMIT + 1], la = strlen(a), lb = strlen(b);

	if (la > NAME_LIMIT || lb > NAME_LIMIT)
		return NAME_LIMIT;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			bool same = tolower((unsigned char)a[i - 1]) ==
				    tolower((unsigned char)b[j - 1]);
			size_t best = diagonal + (same ? 0 : 1);

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diagonal = row[j];
			row[j] = best;
		}
	}
	return row[lb];
}

static const char *nearest(const struct schema *schema, const char *name, size_t max)
{
	const char *best = NULL;

	for (const struct field *f = schema->fields; f->name; f++) {
		size_t d = distance(name, f->name);

		if (d <= max) {
			max = d;
			best = f->name;
			if (d == 0)
				break;
			max--; /* from here on only better ones */
		}
	}
	return best;
}

static const struct field *exact(const struct schema *schema, const char *name, const json_t *value)
{
	for (const struct field *f = schema->fields; f->name; f++) {
		if (!strcmp(f->name, name) && schema_shape_fits(f->type, value))
			return f;
	}
	return NULL;
}

/* Path from `schema` down to the object that has `name`, at most `depth` levels below; or NULL. */
static char *below(const struct schema *schema, const char *name, const json_t *value, int depth)
{
	if (exact(schema, name, value))
		return xstrdup("");
	if (depth == 0)
		return NULL;
	for (const struct field *f = schema->fields; f->name; f++) {
		_cleanup_free_ char *rest = NULL;

		if (f->type != F_OBJECT)
			continue;
		rest = below(f->child, name, value, depth - 1);
		if (rest)
			return xasprintf(".%s%s", f->name, rest);
	}
	return NULL;
}

/* Names that stand in many places say little about where one of them belongs. */
static int search_radius(const char *name)
{
	static const char *const common[] = {"name",  "type",  "path", "image",
					     "model", "value", "bus",  "kind"};

	for (size_t i = 0; i < ARRAY_SIZE(common); i++) {
		if (!strcmp(common[i], name))
			return 1;
	}
	return 3;
}

/* The nearest place, counted in steps up plus steps down, where the field would be right. */
static char *place(const struct schema_level *levels, size_t n, const char *path, const char *name,
		   const json_t *value)
{
	int radius = search_radius(name);

	for (int steps = 1; steps <= radius; steps++) {
		for (int up = 0; up <= steps && (size_t)up < n; up++) {
			const struct schema_level *at = &levels[n - 1 - (size_t)up];
			_cleanup_free_ char *down = below(at->schema, name, value, steps - up);
			int len = (int)at->path_len;

			if (!down)
				continue;
			if (len == 0 && !down[0])
				return xasprintf("belongs at the top, beside apiVersion");
			return xasprintf("belongs under %.*s%s", len, path,
					 len == 0 ? down + 1 : down);
		}
	}
	return NULL;
}

char *schema_hint(const struct schema_level *levels, size_t n, const char *path, const char *name,
		  const json_t *value)
{
	const struct schema *here = levels[n - 1].schema;
	const char *near = nearest(here, name, strlen(name) >= 4 ? 1 : 0);
	char *where;

	if (near && !strcasecmp(near, name))
		return xasprintf("is spelt %s", near);
	if (near)
		return xasprintf("did you mean %s?", near);
	where = place(levels, n, path, name, value);
	if (where)
		return where;
	near = nearest(here, name, strlen(name) / 3);
	return near ? xasprintf("did you mean %s?", near) : NULL;
}
