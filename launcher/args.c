// SPDX-License-Identifier: Apache-2.0
#include "launcher/args.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

void args_free(char **v)
{
	for (char **p = v; p && *p; p++)
		free(*p);
	free(v);
}

void args_done(struct args *a)
{
	args_free(a->v);
	*a = (struct args){0};
}

static void push(struct args *a, char *owned)
{
	a->v = xrealloc(a->v, a->n + 2, sizeof *a->v);
	a->v[a->n++] = owned;
	a->v[a->n] = NULL;
}

void args_add(struct args *a, const char *text)
{
	push(a, xstrdup(text));
}

__attribute__((format(printf, 1, 0))) static char *vformat(const char *fmt, va_list ap)
{
	char *s = NULL;

	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	return s;
}

void args_addf(struct args *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	push(a, vformat(fmt, ap));
	va_end(ap);
}

char *args_escape(const char *text)
{
	char *out = xcalloc(1, 2 * strlen(text) + 1);
	char *o = out;

	for (; *text; text++) {
		if (*text == ',')
			*o++ = ',';
		*o++ = *text;
	}
	return out;
}

void args_opt(struct args *a, const char *key, const char *fmt, ...)
{
	_cleanup_free_ char *value = NULL, *escaped = NULL;
	char *joined;
	va_list ap;

	assert(a->n > 0);
	va_start(ap, fmt);
	value = vformat(fmt, ap);
	va_end(ap);
	escaped = args_escape(value);
	joined = xasprintf("%s,%s%s%s", a->v[a->n - 1], key ? key : "", key ? "=" : "", escaped);
	free(a->v[a->n - 1]);
	a->v[a->n - 1] = joined;
}
