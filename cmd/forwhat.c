// SPDX-License-Identifier: Apache-2.0
#include "cmd/forwhat.h"

#include "cmd/columns.h"

#include "lib/json.h"
#include "lib/util.h"

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
	return 0;
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
	if (r < 0)
		return err_set(err, r,
			       "--for=%s: must be delete, condition=TYPE[=STATUS] or "
			       "jsonpath={.field}[=VALUE]",
			       text);
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

bool for_what_met(const struct for_what *w, const json_t *object)
{
	switch (w->type) {
	case FOR_DELETE:
		return !object;
	case FOR_CONDITION:
		return object && strcasecmp(columns_condition(object, w->path), w->value) == 0;
	case FOR_FIELD:
		return object && field_met(w, object);
	}
	return false;
}
