// SPDX-License-Identifier: Apache-2.0
/* For an unknown field: what was probably meant, by spelling or by place. Pure. */
#pragma once

#include <jansson.h>

#include "api/schema.h"

#define SCHEMA_DEPTH 32 /* levels of objects in any schema */

/* The way from the root to an object: schemas and the paths at which they stand. */
struct schema_level {
	const struct schema *schema;
	size_t path_len; /* of `path` up to and including this object */
};

/*
 * A hint for field `name` with `value`, unknown in levels[n - 1]; `path` is that object's. NULL when
 * nothing is near. The caller's to free.
 */
char *schema_hint(const struct schema_level *levels, size_t n, const char *path, const char *name,
		  const json_t *value);

/* Does a value fit the type, seen from afar (a map, a list, a scalar)? */
bool schema_shape_fits(enum field_type type, const json_t *value);
