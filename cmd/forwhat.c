// SPDX-License-Identifier: Apache-2.0
#include "cmd/forwhat.h"

#include "lib/json.h"
#include "lib/util.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

static int parse_condition(const char *rest, struct for_what *ret)
{
	const char *equal = strchr(rest, '=');
	size_t len = equal ? (size_t)(equal - rest) : strlen(rest);

	if (len == 0 || (equal && !equal[1]))
		return -EINVAL;
	ret->type = FOR_CONDITION;
	ret->path = xstrndup(rest, len);
	ret->value = xstrdup(equal ? equal + 1 : "True");
	return 0;
}

/*
 * Names and list indexes, as json_get follows them. kubectl has filters, ranges and wildcards, too:
 * taken for a name, one would be waited for in vain.
 */
static bool is_path(const char *path)
{
	struct json_step step;
	int r;

	while ((r = json_step_next(&path, &step)) == 1)
		for (size_t i = 0; i < step.len; i++)
			if (!isalnum((unsigned char)step.name[i]) &&
			    (i == 0 || !strchr("-_./", step.name[i])))
				return false;
	return r == 0;
}

static int parse_field(const char *rest, struct for_what *ret)
{
	const char *end = strchr(rest, '}');

	/* kubectl takes it with and without the quotes that a shell has removed, and ".a" bare */
	if (rest[0] != '{' || rest[1] != '.' || !end || end == rest + 2)
		return -EINVAL;
	if (end[1] && (end[1] != '=' || !end[2]))
		return -EINVAL;
	ret->type = FOR_FIELD;
	ret->path = xstrndup(rest + 2, (size_t)(end - rest) - 2);
	ret->value = end[1] ? xstrdup(end + 2) : NULL;
	return is_path(ret->path) ? 0 : -EINVAL;
}

int for_what_parse(const char *text, struct for_what *ret, struct err *err)
{
	struct for_what w = {.text = text};
	const char *rest;
	int r = -EINVAL;

	if (str_eq(text, "delete"))
		r = 0;
	else if ((rest = str_after(text, "condition=")))
		r = parse_condition(rest, &w);
	else if ((rest = str_after(text, "jsonpath=")))
		r = parse_field(rest, &w);
	if (r < 0) {
		for_what_done(&w);
		return err_set(
			err, r,
			"--for=%s: must be delete, condition=TYPE[=STATUS] or "
			"jsonpath={.field.list[0].field}[=VALUE], without filters, ranges and "
			"wildcards",
			text);
	}
	*ret = w;
	return 0;
}

void for_what_done(struct for_what *w)
{
	free(w->path);
	free(w->value);
	*w = (struct for_what){0};
}

static bool field_met(const struct for_what *w, const json_t *object)
{
	const json_t *found = json_get(object, w->path);
	_cleanup_free_ char *text = NULL;

	if (!found || json_is_null(found) || !w->value)
		return found && !json_is_null(found);
	if (json_is_string(found))
		return str_eq(json_string_value(found), w->value);
	text = json_text(found);
	return str_eq(text, w->value);
}

const json_t *for_what_condition(const struct for_what *w, const json_t *object)
{
	const json_t *list = json_get(object, "status.conditions"), *c;
	size_t i;

	if (w->type != FOR_CONDITION)
		return NULL;
	json_array_foreach (list, i, c) {
		const char *type = json_str(c, "type");

		if (type && strcasecmp(type, w->path) == 0)
			return c;
	}
	return NULL;
}

static bool condition_met(const struct for_what *w, const json_t *object)
{
	const char *status = json_str(for_what_condition(w, object), "status");

	return status && strcasecmp(status, w->value) == 0;
}

bool for_what_can_come(const struct for_what *w, const json_t *object)
{
	const char *phase = json_str(object, "status.phase");
	bool final = str_eq(phase, "Succeeded") || str_eq(phase, "Failed");

	if (!final || json_get(object, "metadata.ownerReferences[0]"))
		return true;
	return w->type == FOR_DELETE || (w->type == FOR_FIELD && !str_after(w->path, "status"));
}

bool for_what_met(const struct for_what *w, const json_t *object)
{
	switch (w->type) {
	case FOR_DELETE:
		return !object;
	case FOR_CONDITION:
		return condition_met(w, object);
	case FOR_FIELD:
		return object && field_met(w, object);
	}
	return false;
}
