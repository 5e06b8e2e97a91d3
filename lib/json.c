// SPDX-License-Identifier: Apache-2.0
#include "lib/json.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* The number in brackets, or -1 when it is not one (a name then). */
static long step_index(const char *s, size_t len)
{
	long v = 0;

	if (len == 0 || len > 9) /* 9 digits fit any long */
		return -1;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -1;
		v = v * 10 + (s[i] - '0');
	}
	return v;
}

int json_step_next(const char **path, struct json_step *ret)
{
	const char *p = *path, *name = p;
	bool bracket = *p == '[';
	size_t len;

	if (*p == 0)
		return 0;
	if (bracket)
		name++;
	len = strcspn(name, bracket ? "]" : ".[");
	p = name + len;
	if (len == 0 || (bracket && *p++ != ']'))
		return -EINVAL;
	if (*p == '.') {
		p++;
		if (*p == 0 || *p == '[') /* a name must follow a dot */
			return -EINVAL;
	} else if (*p != 0 && *p != '[') {
		return -EINVAL;
	}
	*ret = (struct json_step){
		.name = name,
		.len = len,
		.index = bracket ? step_index(name, len) : -1,
	};
	*path = p;
	return 1;
}

static json_t *child(const json_t *parent, const struct json_step *step)
{
	if (json_is_object(parent))
		return json_object_getn(parent, step->name, step->len);
	if (json_is_array(parent) && step->index >= 0)
		return json_array_get(parent, (size_t)step->index);
	return NULL;
}

json_t *json_get(const json_t *root, const char *path)
{
	/* jansson's own lookups, too, take const and give what may be changed */
	json_t *at = (json_t *)(uintptr_t)root;
	struct json_step step;
	int r;

	while (at && (r = json_step_next(&path, &step)) != 0)
		at = r < 0 ? NULL : child(at, &step);
	return at;
}

json_t *json_find(const json_t *list, const char *member, const char *text)
{
	json_t *item;
	size_t i;

	json_array_foreach (list, i, item)
		if (text && str_eq(json_string_value(json_object_get(item, member)), text))
			return item;
	return NULL;
}

const char *json_str(const json_t *root, const char *path)
{
	return json_string_value(json_get(root, path));
}

uint64_t json_u64(const json_t *root, const char *path, uint64_t def)
{
	const json_t *v = json_get(root, path);

	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return def;
	return (uint64_t)json_integer_value(v);
}

bool json_flag(const json_t *root, const char *path, bool def)
{
	const json_t *v = json_get(root, path);

	return json_is_boolean(v) ? json_is_true(v) : def;
}

/* Put `value` (consumed) below an object or list. */
static int put(json_t *parent, const struct json_step *step, json_t *value)
{
	_cleanup_json_ json_t *v = value;
	size_t at = (size_t)step->index, n;
	int r;

	if (!v)
		return -ENOMEM;
	if (json_is_object(parent))
		r = json_object_setn_new(parent, step->name, step->len, TAKE_PTR(v));
	else if (!json_is_array(parent))
		return -ENOTDIR;
	else if (step->index < 0)
		return -EINVAL;
	else if ((n = json_array_size(parent)) < at)
		return -ERANGE;
	else if (n == at)
		r = json_array_append_new(parent, TAKE_PTR(v));
	else
		r = json_array_set_new(parent, at, TAKE_PTR(v));
	return r < 0 ? -ENOMEM : 0; /* also for a name that is not UTF-8: paths are ours */
}

int json_path_set(json_t *root, const char *path, json_t *value)
{
	_cleanup_json_ json_t *v = value;
	struct json_step step, next;
	int r = json_step_next(&path, &step);

	if (!root || r <= 0)
		return -EINVAL;
	while ((r = json_step_next(&path, &next)) > 0) {
		json_t *down = child(root, &step);

		if (!down) {
			down = next.index == 0 ? json_array() : json_object();
			r = put(root, &step, down);
			if (r < 0)
				return r;
		}
		root = down;
		step = next;
	}
	return r < 0 ? r : put(root, &step, TAKE_PTR(v));
}

/* Digits that bring back this double: 15 mostly, so that 0.1 is not 0.10000000000000001. */
static int real_digits(double value)
{
	char buf[JSON_REAL_MAX];
	int n = 15;

	for (; n < 17; n++) { /* 17 always suffice */
		(void)snprintf(buf, sizeof buf, "%.*g", n, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	return n;
}

char *json_real_text(double value, char buf[static JSON_REAL_MAX])
{
	(void)snprintf(buf, JSON_REAL_MAX, "%.*g", real_digits(value), value);
	return buf;
}

/* The most digits that any real in it needs. */
static int precision(const json_t *value)
{
	int most = json_is_real(value) ? real_digits(json_real_value(value)) : 15;
	const char *key;
	json_t *v;
	size_t i;

	json_array_foreach (value, i, v) {
		int n = precision(v);

		most = n > most ? n : most;
	}
	json_object_foreach ((json_t *)(uintptr_t)value, key, v) {
		int n = precision(v);

		most = n > most ? n : most;
	}
	return most;
}

char *json_text(const json_t *value)
{
	/* jansson uses malloc and fails only for want of memory, or for NULL (then NULL) */
	return json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY |
					 JSON_REAL_PRECISION(precision(value)));
}

/* What jansson lets pass: nesting up to 2048 levels (on the stack), and NUL bytes. */
static int precheck(const char *text, size_t len, struct err *err)
{
	bool in_string = false;
	int depth = 0, line = 1;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '\n')
			line++;
		if (c == 0) /* jansson would end a token at it and go on */
			return err_set(err, -EINVAL, "line %d: a NUL byte in JSON text", line);
		if (in_string && c == '\\')
			i++;
		else if (c == '"')
			in_string = !in_string;
		else if (!in_string && (c == ']' || c == '}'))
			depth--;
		else if (!in_string && (c == '[' || c == '{') && ++depth > JSON_DEPTH_MAX)
			return err_set(err, -EINVAL, "line %d: nested deeper than %d levels", line,
				       JSON_DEPTH_MAX);
	}
	return 0;
}

int json_parse(const char *text, size_t len, size_t max, json_t **ret, struct err *err)
{
	json_error_t why;
	json_t *value;
	int r;

	if (len > max)
		return err_set(err, -EFBIG, "JSON text of %zu bytes; at most %zu are taken", len,
			       max);
	r = precheck(text, len, err);
	if (r < 0)
		return r;
	value = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
	if (!value)
		return err_set(err, -EINVAL, "line %d, column %d: not JSON: %s", why.line,
			       why.column, why.text);
	*ret = value;
	return 0;
}
