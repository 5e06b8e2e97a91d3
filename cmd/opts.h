// SPDX-License-Identifier: Apache-2.0
/*
 * Options of a command as a table. The global options (--root, -n, -o, -v, --help) are understood
 * beside a command's own ones, before and after its name.
 */
#pragma once

#include "cmd/cli.h"

#include <stddef.h>

#define OPTS_MAX 16 /* a command's own options */

struct texts {
	const char **v; /* the texts are argv's, the list is owned */
	size_t n;
};
void texts_done(struct texts *t);
void texts_add(struct texts *t, const char *text);

enum opt_type {
	OPT_FLAG,  /* bool: there or not */
	OPT_BOOL,  /* bool: --x, --x=true, --x=false */
	OPT_TEXT,  /* const char * */
	OPT_TEXTS, /* struct texts: may be given again */
	OPT_COUNT, /* long: a whole number, 0 or more */
	OPT_TIME,  /* long: seconds, "90", "90s", "5m", "1h"; -1 (negative) is without end */
};

struct opt {
	const char *name;
	char letter; /* 0: only the long form */
	enum opt_type type;
	void *to;
};

/*
 * Parse argv[1..]. The index of the first word that is no option (words are moved behind the
 * options), or a negative number after something was printed: leave with exit code *ret_exit then.
 * usage: what --help prints. first_word_ends: options stop at the first word (before the command).
 */
int opts_parse(struct cli *cli, const char *usage, const struct opt *own, size_t n_own,
	       bool first_word_ends, int argc, char **argv, int *ret_exit);

/* "30", "30s", "5m", "2h" into seconds; negative numbers are -1. -EINVAL */
int opts_seconds(const char *text, long *ret);
