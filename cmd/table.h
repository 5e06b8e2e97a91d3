// SPDX-License-Identifier: Apache-2.0
/*
 * Columns of text, three blanks between them: as wide as what waits needs, or, from table_fix on, as
 * wide as they are; what is longer then moves the rest of its own line only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS 12

struct table {
	size_t columns;
	size_t width[TABLE_COLUMNS]; /* of the widest text that was printed or is waiting */
	char **cells;		     /* owned; rows that wait, one after the other */
	size_t rows;
	bool fixed;
	unsigned indent; /* blanks before each row */
};

void table_init(struct table *t, size_t columns);
void table_done(struct table *t);

/* Copies `columns` texts; a NULL is empty. Control characters become '?'. */
void table_row(struct table *t, const char *const *texts);

/* A column is at least so wide. */
void table_widen(struct table *t, size_t column, size_t width);
void table_fix(struct table *t);
void table_indent(struct table *t, unsigned blanks);

/* Print the waiting rows and forget them; the widths stay, so that later rows line up. */
void table_flush(struct table *t, FILE *to);
