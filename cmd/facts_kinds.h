// SPDX-License-Identifier: Apache-2.0
/* Between cmd/facts*.c only: what is asked of each kind, and how a line, a table and a text are written. */
#pragma once

#include "cmd/table.h"

#include <jansson.h>
#include <time.h>

#define FACTS_COLUMNS  6
#define FACTS_WHEN_MAX 96

struct facts_cells {
	const char *text[FACTS_COLUMNS]; /* borrowed; NULL is empty */
};

void facts_line(FILE *to, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void facts_text(FILE *to, const char *label, const char *text); /* no line without a text */
void facts_time(FILE *to, const char *label, const char *when, time_t now); /* nor without a time */
void facts_rows(FILE *to, const char *title, const char *const *head, size_t columns,
		const struct facts_cells *rows, size_t n);
/* YAML below a title, moved to the right. */
void facts_yaml(FILE *to, const char *title, const json_t *value);

void facts_vmi(FILE *to, const json_t *vmi, time_t now);
void facts_vm(FILE *to, const json_t *vm);
void facts_node(FILE *to, const json_t *node, const json_t *vmis);
void facts_other(FILE *to, const json_t *object); /* all that it says */
