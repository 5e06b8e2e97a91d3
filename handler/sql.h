// SPDX-License-Identifier: Apache-2.0
/* The few SQLite calls that the store makes, with our errors. Parameters by a type string: s, i. */
#pragma once

#include "lib/err.h"
#include "lib/util.h"

#include <sqlite3.h>
#include <stdbool.h>

static inline void stmt_finalizep(sqlite3_stmt **q)
{
	(void)sqlite3_finalize(*q); /* repeats the error of the last step, which was reported */
}
#define _cleanup_stmt_ _cleanup_(stmt_finalizep)

/*
 * Open (make, mode 0600) dir/name and run its schema, whose number is `format` (1 or more). A file of
 * another format, -EPROTO, and one that is damaged are refused, naming the cure.
 */
int sql_open(const char *dir, const char *name, const char *schema, int format, sqlite3 **ret,
	     struct err *err);

/* The same to read alone; nothing is made. -ENOENT, -EACCES as open(2) would say. */
int sql_open_to_read(const char *dir, const char *name, sqlite3 **ret, struct err *err);

/* Has somebody opened it since, to write? Then what was read of it may be anything: open it again. */
bool sql_overtaken(sqlite3 *db);

/* -EBADMSG: the database's file is not what we wrote. */
int sql_damaged(sqlite3 *db, struct err *err, const char *how);

int sql_exec(sqlite3 *db, const char *text,
	     struct err *err); /* several statements, no parameters */

/* types: one letter per parameter, s = const char * (NULL is SQL's NULL), i = int64_t. Texts are borrowed. */
int sql_prepare(sqlite3 *db, sqlite3_stmt **ret, struct err *err, const char *text,
		const char *types, ...);
int sql_run(sqlite3 *db, struct err *err, const char *text, const char *types, ...);

/* 1: a row is there, 0: no more, negative: the database could not be read to its end. */
int sql_row(sqlite3_stmt *q, struct err *err);

/* COMMIT when r is 0, otherwise ROLLBACK; returns r or the commit's error. */
int sql_end(sqlite3 *db, int r, struct err *err);
