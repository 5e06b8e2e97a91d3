// SPDX-License-Identifier: Apache-2.0
/* Columns of text, as wide as they need to be, three blanks between them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS 10

struct table {
	size_t columns;
	size_t width[TABLE_COLUMNS]; /* of the widest text that was printed or is waiting */
	char **cells;		     /* owned; rows that wait, one after the other */
	size_t rows;
};

void table_init(struct table *t, size_t columns);
void table_done(struct table *t);

/* Copies `columns` texts; a NULL is empty. Control characters become '?'. */
void table_row(struct table *t, const char *const *texts);

/* Print the waiting rows and forget them; the widths stay, so that later rows line up. */
void table_flush(struct table *t, FILE *to);
