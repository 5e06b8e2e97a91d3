// SPDX-License-Identifier: Apache-2.0
/*
 * What a syntax error says: libyaml tells what it met and where, which is seldom what was done wrong; the
 * lines around it give that away. Inside lib only.
 */
#pragma once

#include <stddef.h>
#include <yaml.h>

#include "lib/err.h"

struct yaml_text {
	const char *name; /* of the input, for messages */
	const char *text;
	size_t len;
};

/* libyaml counts lines from 0. */
static inline unsigned yaml_line_of(const yaml_mark_t *mark)
{
	return (unsigned)mark->line + 1;
}

/* 1-based line of a byte. */
unsigned yaml_line_at(const struct yaml_text *in, size_t offset);

/* Place, cause and cure of the error with which the parser ended; the code to return. */
int yaml_syntax_error(const yaml_parser_t *p, const struct yaml_text *in, struct err *err);
