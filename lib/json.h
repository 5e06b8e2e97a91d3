// SPDX-License-Identifier: Apache-2.0
/*
 * Small helpers over jansson. Paths are Kubernetes field paths: names joined by dots, list items as
 * [0]; a name that holds dots itself goes in brackets: "metadata.annotations[virtpod.io/isolation]".
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "lib/util.h"

#define _cleanup_json_ _cleanup_(json_decrefp)

#define JSON_DEPTH_MAX 64 /* nesting that json_parse accepts */

/* One step of a path: a name, or a list index when `index` >= 0. `name` points into the path. */
struct json_step {
	const char *name;
	size_t len;
	long index; /* -1: not a number in brackets */
};

/*
 * Take the first step off *path and advance it: 1 = step filled, 0 = end, -EINVAL = not a path.
 * A number in brackets fills both index and name: on an object it is a name.
 */
int json_step_next(const char **path, struct json_step *ret);

/* The value at `path` ("" is the root itself), borrowed; NULL if absent (or root is NULL). */
json_t *json_get(const json_t *root, const char *path);

/* The first object in a list whose member is this text, borrowed; NULL: none (or no list, no text). */
json_t *json_find(const json_t *list, const char *member, const char *text);

/* Typed getters: NULL or `def` when absent, of another type, or (u64) negative. Str is borrowed. */
const char *json_str(const json_t *root, const char *path);
uint64_t json_u64(const json_t *root, const char *path, uint64_t def);
bool json_flag(const json_t *root, const char *path, bool def);

/*
 * Put `value` (consumed, also on failure; NULL counts as out of memory) at `path`. Missing parents
 * become objects, or lists where the next step is [0]; an index may be at most one past the end.
 * -EINVAL: not a path, or root itself; -ENOTDIR: a parent is neither object nor list; -ERANGE: index.
 */
int json_path_set(json_t *root, const char *path, json_t *value);

/* Compact text with sorted keys: equal values give equal text. The caller's to free. */
char *json_text(const json_t *value);

/* Text of at most 17 digits that reads back as the same double, 15 where they do ("0.1"). */
#define JSON_REAL_MAX 40
char *json_real_text(double value, char buf[static JSON_REAL_MAX]);

/*
 * Parse one JSON value from text[len], which needs no NUL at its end. Refused: more than `max` bytes
 * (-EFBIG), syntax errors, duplicate keys, NUL in strings, more than JSON_DEPTH_MAX levels and
 * whole numbers beyond 64 bits (-EINVAL). Messages say line and column. *ret is the caller's.
 */
int json_parse(const char *text, size_t len, size_t max, json_t **ret, struct err *err);
