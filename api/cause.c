// SPDX-License-Identifier: Apache-2.0
#include "api/cause.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const reasons[] = {
	[CAUSE_INVALID] = "FieldValueInvalid",
	[CAUSE_REQUIRED] = "FieldValueRequired",
	[CAUSE_NOT_SUPPORTED] = "FieldValueNotSupported",
	[CAUSE_DUPLICATE] = "FieldValueDuplicate",
	[CAUSE_NOT_FOUND] = "FieldValueNotFound",
	[CAUSE_FORBIDDEN] = "FieldValueForbidden",
};

const char *cause_reason_name(enum cause_reason reason)
{
	return reasons[reason];
}

void causes_done(struct causes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->list[i].field);
		free(c->list[i].message);
	}
	*c = (struct causes){0};
}

void cause_add(struct causes *c, enum cause_reason reason, const char *field, const char *fmt, ...)
{
	_cleanup_free_ char *message = NULL;
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = vasprintf(&message, fmt, ap);
	va_end(ap);
	if (r < 0) {
		message = NULL; /* undefined after a failure */
		c->more++;
		return;
	}
	/* one line each, whatever value it quotes */
	str_one_line(message);
	for (size_t i = 0; i < c->n; i++) {
		if (str_eq(c->list[i].field, field) && str_eq(c->list[i].message, message))
			return;
	}
	if (c->n == CAUSES_MAX) {
		c->more++;
		return;
	}
	c->list[c->n++] = (struct cause){reason, xstrdup(field), TAKE_PTR(message)};
}

char *cause_text(const struct cause *cause, const struct yaml_doc *doc)
{
	const char *colon = cause->field[0] ? ": " : "";
	unsigned line;

	if (!doc)
		return xasprintf("%s%s%s", cause->field, colon, cause->message);
	line = yaml_doc_line(doc, cause->field, /* key= */ true);
	if (line == 0)
		return xasprintf("%s: %s%s%s", yaml_doc_name(doc), cause->field, colon,
				 cause->message);
	return xasprintf("%s:%u: %s%s%s", yaml_doc_name(doc), line, cause->field, colon,
			 cause->message);
}

json_t *causes_to_json(const struct causes *c)
{
	json_t *ret = json_array();

	for (size_t i = 0; i < c->n; i++) {
		const struct cause *cause = &c->list[i];

		(void)json_array_append_new(ret, json_pack("{s:s, s:s, s:s}", "reason",
							   reasons[cause->reason], "message",
							   cause->message, "field", cause->field));
	}
	return ret;
}

int causes_to_err(const struct causes *c, struct err *err)
{
	_cleanup_free_ char *text = NULL;

	if (c->n == 0)
		return 0;
	for (size_t i = 0; i < c->n; i++) {
		_cleanup_free_ char *before = text;
		_cleanup_free_ char *one = cause_text(&c->list[i], NULL);

		text = before ? xasprintf("%s; %s", before, one) : TAKE_PTR(one);
	}
	if (c->more > 0)
		return err_set(err, -EINVAL, "%zu errors: %s", c->n + c->more, text);
	return err_set(err, -EINVAL, "%s", text);
}
