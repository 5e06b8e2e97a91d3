// SPDX-License-Identifier: Apache-2.0
/*
 * Ownership by scope. A variable with a cleanup attribute owns what it holds from its declaration
 * on, where it is initialised; ownership leaves it only through TAKE_FD or TAKE_PTR.
 * Small allocations abort when memory is out: no caller can do anything better.
 */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define _cleanup_(f)   __attribute__((cleanup(f)))
#define _cleanup_fd_   _cleanup_(fd_closep)
#define _cleanup_free_ _cleanup_(free_p)
#define _cleanup_dir_  _cleanup_(dir_closep)
#define _cleanup_file_ _cleanup_(file_closep)

#define TAKE_FD(fd)                                                                                \
	({                                                                                         \
		int *_fdp = &(fd);                                                                 \
		int _v = *_fdp;                                                                    \
		*_fdp = -1;                                                                        \
		_v;                                                                                \
	})
#define TAKE_PTR(p)                                                                                \
	({                                                                                         \
		__typeof__(p) *_pp = &(p);                                                         \
		__typeof__(p) _v = *_pp;                                                           \
		*_pp = NULL;                                                                       \
		_v;                                                                                \
	})

/* Close fd if >= 0, keeping errno; returns -1, so that `fd = fd_close(fd)` forgets it. */
int fd_close(int fd);

static inline void fd_closep(const int *fd)
{
	(void)fd_close(*fd);
}

static inline void free_p(void *p)
{
	free(*(void **)p);
}

static inline void dir_closep(DIR **d)
{
	if (*d)
		(void)closedir(*d); /* read only: nothing can be lost */
}

static inline void file_closep(FILE **f)
{
	if (*f)
		(void)fclose(*f); /* who writes checks fclose's result himself */
}

void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *s); /* NULL stays NULL */
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static inline int str_eq(const char *a, const char *b)
{
	return a == b || (a && b && __builtin_strcmp(a, b) == 0);
}

/* A stranger's text for terminals and conditions: every byte that is not printable ASCII becomes '?'. */
void str_printable(const char *text, char *ret, size_t size);

/*
 * In place, for messages that quote what a stranger wrote: one line of well-formed UTF-8. A control
 * character (C1 ones, too: terminals obey them) becomes `instead`; bytes that are no letter, such as
 * half of one that was cut, become one `?`.
 */
void str_line(char *text, char instead);

/*
 * The same for a terminal that follows a stranger's words, part by part: lines, tabs and returns stay. What
 * is put into ret, len + STR_STREAM_MORE bytes, does not depend on where the parts are cut.
 */
#define STR_STREAM_MORE 3
struct str_stream {
	unsigned char part[4];
	size_t n; /* bytes of a letter that has begun: at the end, of none */
	bool bad; /* what came last is no letter */
};
size_t str_stream(struct str_stream *s, const char *data, size_t len, char *ret);

/* Does s begin with prefix? Returns what follows it, or NULL. */
const char *str_after(const char *s, const char *prefix);

/* Is `word` one of the words of `list`, which blanks and newlines part? */
bool str_has_word(const char *list, const char *word);
