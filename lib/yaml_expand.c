// SPDX-License-Identifier: Apache-2.0
#include "lib/yaml_expand.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/json.h"
#include "lib/yaml.h"
#include "lib/yaml_scalar.h"

/* Aliases of aliases grow exponentially: count what comes out, before it is made. */
static int account(struct yaml_expansion *x, const struct yaml_node *node, size_t bytes)
{
	x->bytes += bytes;
	if (++x->nodes > YAML_NODES_MAX)
		return yaml_fail(x->err, -EFBIG, x->name, node->line,
				 "more than %d values once aliases are expanded; use fewer aliases",
				 YAML_NODES_MAX);
	if (x->bytes > YAML_BYTES_MAX)
		return yaml_fail(x->err, -EFBIG, x->name, node->line,
				 "more than %u bytes once aliases are expanded; use fewer aliases",
				 YAML_BYTES_MAX);
	return 0;
}

static int enter(struct yaml_expansion *x, const struct yaml_node *node)
{
	if (++x->depth > YAML_DEPTH_MAX)
		return yaml_fail(x->err, -EINVAL, x->name, node->line,
				 "nested deeper than %d levels once aliases are expanded",
				 YAML_DEPTH_MAX);
	return 0;
}

static int typed(struct yaml_expansion *x, const struct yaml_node *node, struct yaml_scalar *ret)
{
	if (yaml_scalar_type(node->text, node->tag, node->plain, ret) < 0)
		return yaml_fail(x->err, -EINVAL, x->name, node->line,
				 "'%.100s' is not what its tag '!!%s' says; leave the tag out",
				 node->text, strrchr(node->tag, ':') + 1);
	return 0;
}

static int convert_text(struct yaml_expansion *x, const struct yaml_node *node,
			const struct yaml_scalar *s, json_t **ret)
{
	*ret = s->bytes ? json_stringn(s->bytes, s->n_bytes) : json_stringn(node->text, node->len);
	if (!*ret || (s->bytes && memchr(s->bytes, 0, s->n_bytes))) {
		json_decref(*ret);
		*ret = NULL;
		return yaml_fail(x->err, -EINVAL, x->name, node->line,
				 "binary data; text must be UTF-8 without NUL characters");
	}
	return 0;
}

static int convert_real(struct yaml_expansion *x, const struct yaml_node *node, double v,
			json_t **ret)
{
	/* JSON has one kind of number: 1e3 may stand wherever 1000 may */
	if (fabs(v) < 0x1p63 && v == (double)(json_int_t)v)
		*ret = json_integer((json_int_t)v);
	else
		*ret = json_real(v); /* NULL for NaN and infinity */
	if (!*ret)
		return yaml_fail(x->err, -EINVAL, x->name, node->line,
				 "'%s' is no number that JSON can hold; quote it to have a string",
				 node->text);
	return 0;
}

static int convert_scalar(struct yaml_expansion *x, const struct yaml_node *node, json_t **ret)
{
	struct yaml_scalar s;
	int r = typed(x, node, &s);

	if (r < 0)
		return r;
	switch (s.type) {
	case YAML_TYPE_NULL:
		*ret = json_null();
		return 0;
	case YAML_TYPE_BOOL:
		*ret = json_boolean(s.flag);
		return 0;
	case YAML_TYPE_INT:
		*ret = json_integer(s.i);
		return 0;
	case YAML_TYPE_UINT: /* jansson's integers are signed */
		return convert_real(x, node, (double)s.u, ret);
	case YAML_TYPE_REAL:
		return convert_real(x, node, s.real, ret);
	case YAML_TYPE_STR:
		break;
	}
	r = convert_text(x, node, &s, ret);
	free(s.bytes);
	return r;
}

/* The name of a map's key: typed as a value, then written as text, so that `yes:` is "true". */
static int key_name(struct yaml_expansion *x, struct yaml_node *key)
{
	const struct yaml_node *node = yaml_node_real(key);
	char number[YAML_REAL_KEY_MAX];
	struct yaml_scalar s;
	int r;

	if (node->kind != YAML_KIND_SCALAR)
		return yaml_fail(x->err, -EINVAL, x->name, key->line,
				 "a list or mapping as a key; a key must be text (quote a value "
				 "that begins with '{' or '['; fill in a template's '{{' first)");
	r = typed(x, node, &s);
	if (r < 0)
		return r;
	switch (s.type) {
	case YAML_TYPE_NULL:
	case YAML_TYPE_UINT:
		return yaml_fail(x->err, -EINVAL, x->name, key->line,
				 "'%s' as a key is not text; quote it", node->text);
	case YAML_TYPE_BOOL:
		key->key = xstrdup(s.flag ? "true" : "false");
		return 0;
	case YAML_TYPE_INT:
		key->key = xasprintf("%lld", (long long)s.i);
		return 0;
	case YAML_TYPE_REAL:
		key->key = xstrdup(yaml_real_key(s.real, number));
		return 0;
	case YAML_TYPE_STR:
		break;
	}
	key->key = s.bytes ? xstrndup(s.bytes, s.n_bytes) : xstrdup(node->text);
	free(s.bytes);
	return 0;
}

/* A plain `<<` merges its value into the mapping; quoted, or through an alias, it is a name. */
static bool is_merge(const struct yaml_node *key)
{
	return key->kind == YAML_KIND_SCALAR && str_eq(key->text, "<<") &&
	       (key->plain || str_eq(key->tag, "tag:yaml.org,2002:merge"));
}

struct yaml_node *yaml_find(struct yaml_node *node, const char *name, size_t len,
			    struct yaml_node **ret_value)
{
	struct yaml_node *hit = NULL;

	node = yaml_node_real(node);
	if (node->kind == YAML_KIND_LIST)
		for (size_t i = 0; i < node->n_kids && !hit; i++)
			hit = yaml_find(node->kids[i], name, len, ret_value);
	if (node->kind != YAML_KIND_MAP)
		return hit;
	for (size_t i = 0; i < node->n_kids && !hit; i += 2) {
		struct yaml_node *key = node->kids[i];

		if (is_merge(key)) {
			hit = yaml_find(node->kids[i + 1], name, len, ret_value);
		} else if (key->key && strlen(key->key) == len &&
			   memcmp(key->key, name, len) == 0) {
			hit = key;
			*ret_value = node->kids[i + 1];
		}
	}
	return hit;
}

/* A mapping that is being filled; `node` is the outermost one, which `<<` adds to. */
struct filling {
	struct yaml_node *node;
	json_t *object;
};

static int fill(struct yaml_expansion *x, const struct filling *f, struct yaml_node *map);

static int cannot_merge(struct yaml_expansion *x, const struct yaml_node *from)
{
	return yaml_fail(x->err, -EINVAL, x->name, from->line,
			 "'<<' merges a mapping, or a list of mappings written here");
}

static int merge(struct yaml_expansion *x, const struct filling *f, struct yaml_node *from)
{
	int r = 0;

	if (yaml_node_real(from)->kind == YAML_KIND_MAP)
		return fill(x, f, yaml_node_real(from));
	if (from->kind != YAML_KIND_LIST)
		return cannot_merge(x, from);
	for (size_t i = 0; r == 0 && i < from->n_kids; i++) {
		struct yaml_node *map = yaml_node_real(from->kids[i]);

		r = map->kind == YAML_KIND_MAP ? fill(x, f, map) : cannot_merge(x, map);
	}
	return r;
}

static int set_twice(struct yaml_expansion *x, const struct filling *f, const struct yaml_node *key)
{
	struct yaml_node *value, *first = yaml_find(f->node, key->key, strlen(key->key), &value);
	bool merged = true;

	for (size_t i = 0; i < f->node->n_kids; i += 2)
		merged = merged && f->node->kids[i] != key;
	return yaml_fail(
		x->err, -EINVAL, x->name, key->line,
		"key '%.100s'%s is set twice in one mapping%s, first in line %u; keep one%s",
		key->key,
		key->text && !str_eq(key->text, key->key) ? " (as YAML 1.1 reads it)" : "",
		merged ? ", here by way of '<<'" : "", first ? first->line : key->line,
		x->depth == 1 ? ", or part two documents by '---'" : "");
}

static int fill_pair(struct yaml_expansion *x, const struct filling *f, struct yaml_node *key,
		     struct yaml_node *value)
{
	json_t *v = NULL;
	int r;

	if (is_merge(key))
		return merge(x, f, value);
	if (!key->key) {
		r = key_name(x, key);
		if (r < 0)
			return r;
	}
	r = account(x, key, strlen(key->key));
	if (r < 0)
		return r;
	if (json_object_get(f->object, key->key))
		return set_twice(x, f, key);
	r = yaml_expand(x, value, &v);
	if (r < 0)
		return r;
	if (json_object_set_new(f->object, key->key, v) < 0)
		return yaml_fail(x->err, -EINVAL, x->name, key->line, "a key that is not UTF-8");
	return 0;
}

/* Add what `map` says to the mapping that is being filled. */
static int fill(struct yaml_expansion *x, const struct filling *f, struct yaml_node *map)
{
	int r = enter(x, map);

	if (r == 0)
		r = account(x, map, 0);
	for (size_t i = 0; r == 0 && i < map->n_kids; i += 2)
		r = fill_pair(x, f, map->kids[i], map->kids[i + 1]);
	x->depth--;
	return r;
}

static int convert_list(struct yaml_expansion *x, struct yaml_node *list, json_t *array)
{
	int r = enter(x, list);

	if (r == 0)
		r = account(x, list, 0);
	for (size_t i = 0; r == 0 && i < list->n_kids; i++) {
		json_t *v = NULL;

		r = yaml_expand(x, list->kids[i], &v);
		if (r == 0 && json_array_append_new(array, v) < 0)
			r = -ENOMEM;
	}
	x->depth--;
	return r;
}

int yaml_expand(struct yaml_expansion *x, struct yaml_node *node, json_t **ret)
{
	_cleanup_json_ json_t *v = NULL;
	int r;

	node = yaml_node_real(node);
	if (node->kind == YAML_KIND_MAP) {
		v = json_object();
		r = fill(x, &(struct filling){.node = node, .object = v}, node);
	} else if (node->kind == YAML_KIND_LIST) {
		v = json_array();
		r = convert_list(x, node, v);
	} else {
		r = account(x, node, node->len);
		if (r == 0)
			r = convert_scalar(x, node, &v);
	}
	if (r == 0)
		*ret = TAKE_PTR(v);
	return r;
}
