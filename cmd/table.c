// SPDX-License-Identifier: Apache-2.0
#include "cmd/table.h"

#include "lib/util.h"

#include <assert.h>
#include <string.h>

#define GAP 3

void table_init(struct table *t, size_t columns)
{
	assert(columns > 0 && columns <= TABLE_COLUMNS);
	*t = (struct table){.columns = columns};
}

static void forget_rows(struct table *t)
{
	for (size_t i = 0; i < t->rows * t->columns; i++)
		free(t->cells[i]);
	free(t->cells);
	t->cells = NULL;
	t->rows = 0;
}

void table_done(struct table *t)
{
	forget_rows(t);
}

/* Columns of the terminal: every UTF-8 character counts as one. */
static size_t text_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

void table_widen(struct table *t, size_t column, size_t width)
{
	if (width > t->width[column])
		t->width[column] = width;
}

void table_fix(struct table *t)
{
	t->fixed = true;
}

void table_indent(struct table *t, unsigned blanks)
{
	t->indent = blanks;
}

void table_row(struct table *t, const char *const *texts)
{
	t->cells = xrealloc(t->cells, (t->rows + 1) * t->columns, sizeof(char *));
	for (size_t i = 0; i < t->columns; i++) {
		char *text = xstrdup(texts[i] ? texts[i] : "");

		str_line(text, '?');
		if (!t->fixed)
			table_widen(t, i, text_width(text));
		t->cells[t->rows * t->columns + i] = text;
	}
	t->rows++;
}

static void print_row(const struct table *t, char *const *cells, FILE *to)
{
	size_t last = t->columns;

	/* no blanks behind the last text of a line */
	while (last > 1 && !cells[last - 1][0])
		last--;
	(void)fprintf(to, "%*s", (int)t->indent, "");
	for (size_t i = 0; i < last; i++) {
		size_t own = text_width(cells[i]);
		size_t pad = GAP + (own < t->width[i] ? t->width[i] - own : 0);

		(void)fprintf(to, "%s%*s", cells[i], i + 1 < last ? (int)pad : 0, "");
	}
	(void)fputc('\n', to);
}

void table_flush(struct table *t, FILE *to)
{
	for (size_t i = 0; i < t->rows; i++)
		print_row(t, t->cells + i * t->columns, to);
	(void)fflush(to);
	forget_rows(t);
}
