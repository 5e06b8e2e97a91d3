// SPDX-License-Identifier: Apache-2.0
#include "cgroups/show.h"

#include "lib/util.h"

#include <string.h>

/* What the memory controller reads without a limit: LONG_MAX in whole pages (mm/page_counter.c). */
#define NO_MEMORY_LIMIT ((uint64_t)INT64_MAX / 4096 * 4096)

/* jansson takes signed numbers; what is beyond them is "no limit" in every file read here. */
static void put_u64(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key,
			    v >= NO_MEMORY_LIMIT ? json_null() : json_integer((json_int_t)v));
}

int show_u64(json_t *o, const char *key, const struct group *g, const char *file, struct err *err)
{
	uint64_t v;
	int r = group_read_u64(g, file, &v, err);

	if (!r)
		put_u64(o, key, v);
	return r;
}

int show_limit(json_t *o, const char *key, const struct group *g, const char *file,
	       const char *none, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	int r = group_read(g, file, &text, err);

	if (r < 0)
		return r;
	if (!str_eq(text, none))
		return show_u64(o, key, g, file, err);
	json_object_set_new(o, key, json_null());
	return 0;
}

int show_key(json_t *o, const char *key, const struct group *g, const char *file, const char *line,
	     uint64_t divisor, struct err *err)
{
	uint64_t v;
	int r = group_read_key(g, file, line, &v, err);

	if (!r)
		put_u64(o, key, v / divisor);
	return r;
}

int show_text(json_t *o, const char *key, const struct group *g, const char *file, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	int r = group_read(g, file, &text, err);

	if (!r)
		json_object_set_new(o, key, json_string(text));
	return r;
}

int show_lines(json_t *o, const char *key, const struct group *g, const char *file, bool numbers,
	       struct err *err)
{
	_cleanup_free_ char *text = NULL;
	json_t *list = json_array();
	char *save = NULL;
	int r;

	json_object_set_new(o, key, list);
	r = group_read(g, file, &text, err);
	if (r < 0)
		return r;
	for (char *p = strtok_r(text, "\n", &save); p; p = strtok_r(NULL, "\n", &save))
		json_array_append_new(list, numbers ? json_integer(strtoll(p, NULL, 10))
						    : json_string(p));
	return 0;
}

json_t *show_object(json_t *o, const char *key)
{
	json_t *child = json_object();

	json_object_set_new(o, key, child);
	return child;
}

int show_path_and_tasks(json_t *root, const char *key, const struct group *g, struct err *err)
{
	char path[TREE_PATH_MAX];
	_cleanup_free_ char *full = NULL;
	int r = tree_path(g->tree, g->node, g->uid, path, err);

	if (r < 0)
		return r;
	full = xasprintf("%s/%s", g->tree->root[g->hier], path);
	json_object_set_new(json_object_get(root, "paths"), key, json_string(full));
	return show_lines(json_object_get(root, "tasks"), key, g,
			  g->hier == HIER_UNIFIED ? "cgroup.threads" : "tasks", /* numbers= */ true,
			  err);
}
