// SPDX-License-Identifier: Apache-2.0
#include "handler/sql.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int sql_damaged(sqlite3 *db, struct err *err, const char *how)
{
	const char *file = sqlite3_db_filename(db, "main");

	return err_set(err, -EBADMSG, "%s: damaged (%s); move it away to start with an empty one",
		       file ? file : "store", how);
}

static int sql_error(sqlite3 *db, struct err *err, const char *what)
{
	int rc = sqlite3_errcode(db) & 0xff;
	const char *file = sqlite3_db_filename(db, "main");
	int code = rc == SQLITE_FULL				 ? -ENOSPC
		   : rc == SQLITE_READONLY			 ? -EROFS
		   : rc == SQLITE_CONSTRAINT			 ? -EEXIST
		   : rc == SQLITE_BUSY				 ? -EBUSY
		   : rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB ? -EBADMSG
								 : -EIO;

	if (code == -EBADMSG)
		return sql_damaged(db, err, sqlite3_errmsg(db));
	return err_set(err, code, "%s: %s: %s", file ? file : "store", what, sqlite3_errmsg(db));
}

/* All of it, before anything is decided by half of it: what we store is read in a millisecond. */
static int check_all(sqlite3 *db, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *q = NULL;
	const char *found;
	int r = sql_prepare(db, &q, err, "PRAGMA quick_check(1)", NULL);

	if (r == 0)
		r = sql_row(q, err);
	if (r < 0)
		return r;
	found = r ? (const char *)sqlite3_column_text(q, 0) : NULL;
	return str_eq(found, "ok") ? 0 : sql_damaged(db, err, found ? found : "no answer");
}

/* A new file has format 0. Asked before the schema makes anything in a file that is not ours to change. */
static int check_format(sqlite3 *db, const char *path, int format, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *q = NULL;
	char set[64];
	int r = sql_prepare(db, &q, err, "PRAGMA user_version", NULL), found;

	if (r == 0)
		r = sql_row(q, err);
	if (r < 0)
		return r;
	found = sqlite3_column_int(q, 0);
	if (found && found != format)
		return err_set(err, -EPROTO,
			       "%s: written by another version of virtpod (format %d, this one has "
			       "%d): use that version",
			       path, found, format);
	(void)sqlite3_reset(q);
	(void)snprintf(set, sizeof set, "PRAGMA user_version = %d", format);
	return found ? 0 : sql_exec(db, set, err);
}

int sql_open(const char *dir, const char *name, const char *schema, int format, sqlite3 **ret,
	     struct err *err)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name);
	mode_t mask = umask(0077);
	sqlite3 *db = NULL;
	int r, rc;

	rc = sqlite3_open_v2(
		path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc == SQLITE_OK)
		r = check_format(db, path, format, err);
	else /* SQLite forgets the file's name here */
		r = err_set(err, -EIO, "%s: %s (%s)", path, sqlite3_errmsg(db),
			    strerror(sqlite3_system_errno(db)));
	if (r == 0)
		r = sql_exec(db, schema, err);
	(void)umask(mask);
	if (r == 0)
		r = check_all(db, err);
	if (r < 0) {
		(void)sqlite3_close_v2(db);
		return r;
	}
	*ret = db;
	return 0;
}

/* A path in a URI: the caller's. */
static char *uri_path(const char *path)
{
	char *uri = xcalloc(3 * strlen(path) + 1, 1), *to = uri;

	for (; *path; path++)
		if (strchr("%?#", *path))
			to += sprintf(to, "%%%02X", (unsigned char)*path);
		else
			*to++ = *path;
	return uri;
}

/* In nanoseconds; 0: it is not there. */
static int64_t changed_at(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? 0
				   : st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
}

static bool has_log(const char *path)
{
	_cleanup_free_ char *wal = xasprintf("%s-wal", path);

	return access(wal, F_OK) == 0;
}

/*
 * With its log beside it the file is in use, or its user was killed: it is read as everybody reads it.
 * Without one nobody has it open, all is in the file itself, and "immutable" keeps SQLite from making a
 * log of its own, which a reader could not take away again. It keeps it from taking locks, too: who comes
 * meanwhile is found out afterwards (sql_overtaken), by "changed", which means nothing to SQLite.
 */
int sql_open_to_read(const char *dir, const char *name, sqlite3 **ret, struct err *err)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name), *escaped = uri_path(path);
	_cleanup_free_ char *uri = NULL;
	int64_t changed = changed_at(path);
	sqlite3 *db = NULL;
	int r = 0;

	if (access(path, R_OK) < 0)
		return err_errno(err, -errno, "%s", path);
	uri = has_log(path)
		      ? xasprintf("file:%s?mode=ro", escaped)
		      : xasprintf("file:%s?mode=ro&immutable=1&changed=%" PRId64, escaped, changed);
	if (sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		r = sql_error(db, err, "open");
	if (r < 0) {
		(void)sqlite3_close_v2(db);
		return r;
	}
	*ret = db;
	return 0;
}

bool sql_overtaken(sqlite3 *db)
{
	const char *path = sqlite3_db_filename(db, "main");
	int64_t changed = sqlite3_uri_int64(path, "changed", -1);

	return changed >= 0 && (has_log(path) || changed_at(path) != changed);
}

int sql_exec(sqlite3 *db, const char *text, struct err *err)
{
	return sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK ? 0
								     : sql_error(db, err, "write");
}

static int vprepare(sqlite3 *db, sqlite3_stmt **ret, struct err *err, const char *text,
		    const char *types, va_list ap)
{
	sqlite3_stmt *q = NULL;

	if (sqlite3_prepare_v2(db, text, -1, &q, NULL) != SQLITE_OK)
		return sql_error(db, err, "prepare");
	for (int i = 1; types && *types; types++, i++) {
		if (*types == 's')
			(void)sqlite3_bind_text(q, i, va_arg(ap, const char *), -1, SQLITE_STATIC);
		else
			(void)sqlite3_bind_int64(q, i, va_arg(ap, int64_t));
	}
	*ret = q;
	return 0;
}

int sql_prepare(sqlite3 *db, sqlite3_stmt **ret, struct err *err, const char *text,
		const char *types, ...)
{
	va_list ap;
	int r;

	va_start(ap, types);
	r = vprepare(db, ret, err, text, types, ap);
	va_end(ap);
	return r;
}

int sql_run(sqlite3 *db, struct err *err, const char *text, const char *types, ...)
{
	_cleanup_stmt_ sqlite3_stmt *q = NULL;
	va_list ap;
	int r;

	va_start(ap, types);
	r = vprepare(db, &q, err, text, types, ap);
	va_end(ap);
	if (r < 0)
		return r;
	return sqlite3_step(q) == SQLITE_DONE ? 0 : sql_error(db, err, "write");
}

int sql_row(sqlite3_stmt *q, struct err *err)
{
	int rc = sqlite3_step(q);

	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		return rc == SQLITE_ROW;
	return sql_error(sqlite3_db_handle(q), err, "read");
}

int sql_end(sqlite3 *db, int r, struct err *err)
{
	if (r == 0)
		r = sql_exec(db, "COMMIT", err);
	if (r < 0)
		(void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL); /* the first error counts */
	return r;
}
