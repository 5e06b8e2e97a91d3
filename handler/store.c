// SPDX-License-Identifier: Apache-2.0
#include "handler/store_internal.h"

#include "handler/pod.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define VERSIONS 1000

/* Raised by whoever changes a schema such that another version would misread it. */
#define OBJECTS_FORMAT 1
#define RUNTIME_FORMAT 1

static const char OBJECTS_SCHEMA[] =
	"PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
	"CREATE TABLE IF NOT EXISTS objects (kind TEXT NOT NULL, ns TEXT NOT NULL, name TEXT NOT "
	"NULL,"
	" body TEXT NOT NULL, PRIMARY KEY (kind, ns, name)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS counter (one INTEGER PRIMARY KEY CHECK (one = 1), version "
	"INTEGER);"
	"INSERT OR IGNORE INTO counter VALUES (1, 0);";

static const char RUNTIME_SCHEMA[] =
	"PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
	"CREATE TABLE IF NOT EXISTS boot (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT);"
	"CREATE TABLE IF NOT EXISTS status (uid TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS pods (uid TEXT PRIMARY KEY, ns TEXT, name TEXT, step TEXT,"
	" host_id INTEGER, pid INTEGER, pid_start INTEGER, plan TEXT) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS cpus (cpu INTEGER PRIMARY KEY, uid TEXT NOT NULL,"
	" role INTEGER NOT NULL);"
	"CREATE TABLE IF NOT EXISTS events (ns TEXT NOT NULL, name TEXT NOT NULL, uid TEXT NOT "
	"NULL,"
	" last INTEGER NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL,"
	" PRIMARY KEY (ns, name));"
	"CREATE INDEX IF NOT EXISTS events_last ON events (last);"
	"CREATE INDEX IF NOT EXISTS events_version ON events (version);"
	"CREATE INDEX IF NOT EXISTS events_uid ON events (uid, version);";

/* Runtime records describe processes and CPUs of one boot; those of another say nothing. */
static int void_after_reboot(sqlite3 *db, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *q = NULL;
	char id[64], old[64] = "";
	int r;

	r = file_read_line_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", id, sizeof id);
	if (r < 0)
		return err_errno(err, r, "/proc/sys/kernel/random/boot_id");
	r = sql_prepare(db, &q, err, "SELECT id FROM boot", NULL);
	if (r == 0)
		r = sql_row(q, err);
	if (r < 0)
		return r;
	if (r)
		(void)snprintf(old, sizeof old, "%s", sqlite3_column_text(q, 0));
	if (str_eq(id, old))
		return 0;
	r = sql_exec(db,
		     "DELETE FROM status; DELETE FROM pods; DELETE FROM cpus; DELETE FROM events;",
		     err);
	return r < 0 ? r : sql_run(db, err, "INSERT OR REPLACE INTO boot VALUES (1, ?)", "s", id);
}

/*
 * Versions of status changes are not on disk one by one: a block of VERSIONS is reserved at a time, so
 * that a version is never given twice, not even after kill -9, and a status change costs no sync. Where a
 * block can't be reserved (the disk is full) none is given.
 */
static uint64_t block_end(uint64_t version)
{
	return version - version % VERSIONS + VERSIONS;
}

static int write_reserved(struct store *s, uint64_t version, struct err *err)
{
	return sql_run(s->objects, err, "UPDATE counter SET version = ?", "i",
		       (int64_t)block_end(version));
}

static int reserve_versions(struct store *s, uint64_t version, struct err *err)
{
	int r = write_reserved(s, version, err);

	if (r == 0)
		s->reserved = block_end(version);
	return r;
}

/* Ends a change of objects that has this version, and with it the block of it. */
static int end_change(struct store *s, int r, uint64_t version, struct err *err)
{
	if (r == 0)
		r = write_reserved(s, version, err);
	r = sql_end(s->objects, r, err);
	if (r == 0) {
		s->version = version;
		s->reserved = block_end(version);
	}
	return r;
}

int store_open(const struct paths *paths, struct store **ret, struct err *err)
{
	struct store *s = xcalloc(1, sizeof *s);
	_cleanup_stmt_ sqlite3_stmt *q = NULL;
	int r;

	r = sql_open(paths->lib, "store.db", OBJECTS_SCHEMA, OBJECTS_FORMAT, &s->objects, err);
	if (r == 0)
		r = sql_open(paths->run, "runtime.db", RUNTIME_SCHEMA, RUNTIME_FORMAT, &s->runtime,
			     err);
	if (r == 0)
		r = void_after_reboot(s->runtime, err);
	/* a row that could not be deleted with its pod would keep its CPU from everybody */
	if (r == 0)
		r = sql_exec(s->runtime, "DELETE FROM cpus WHERE uid NOT IN (SELECT uid FROM pods)",
			     err);
	if (r == 0)
		r = sql_prepare(s->objects, &q, err, "SELECT version FROM counter", NULL);
	if (r == 0)
		r = sql_row(q, err);
	if (r > 0) {
		s->version = (uint64_t)sqlite3_column_int64(q, 0);
		r = reserve_versions(s, s->version, err);
	}
	if (r < 0) {
		store_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

int store_open_to_read(const struct paths *paths, struct store **ret, struct err *err)
{
	struct store *s = xcalloc(1, sizeof *s);
	int r = sql_open_to_read(paths->lib, "store.db", &s->objects, err);

	if (r < 0) {
		store_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

bool store_overtaken(const struct store *s)
{
	return sql_overtaken(s->objects);
}

void store_close(struct store *s)
{
	if (!s)
		return;
	(void)sqlite3_close_v2(s->objects); /* statements are finalised by scope */
	(void)sqlite3_close_v2(s->runtime);
	free(s);
}

uint64_t store_version(struct store *s)
{
	return s->version;
}

uint64_t store_next_version(struct store *s, struct err *err)
{
	if (s->version + 1 >= s->reserved && reserve_versions(s, s->version + 1, err) < 0)
		return 0;
	return ++s->version;
}

int store_put(struct store *s, const char *kind, const char *ns, const char *name, json_t *body,
	      struct err *err)
{
	_cleanup_free_ char *text = NULL;
	uint64_t next = s->version + 1;
	char version[24];
	int r;

	(void)snprintf(version, sizeof version, "%" PRIu64, next);
	(void)json_object_set_new(json_object_get(body, "metadata"), "resourceVersion",
				  json_string(version));
	text = json_dumps(body, JSON_COMPACT);
	if (!text)
		return err_set(err, -EINVAL, "%s %s: not valid JSON", kind, name);
	r = sql_exec(s->objects, "BEGIN IMMEDIATE", err);
	if (r == 0)
		r = sql_run(s->objects, err, "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?)",
			    "ssss", kind, ns, name, text);
	return end_change(s, r, next, err);
}

int store_load_body(sqlite3_stmt *q, int column, json_t **ret, struct err *err)
{
	json_error_t je;
	json_t *body = json_loads((const char *)sqlite3_column_text(q, column), 0, &je);

	if (!body)
		return sql_damaged(sqlite3_db_handle(q), err, je.text);
	*ret = body;
	return 0;
}

int store_load_list(sqlite3_stmt *q, json_t **ret_array, struct err *err)
{
	_cleanup_json_ json_t *list = json_array();
	json_t *body;
	int r;

	while ((r = sql_row(q, err)) > 0) {
		r = store_load_body(q, 0, &body, err);
		if (r < 0)
			return r;
		(void)json_array_append_new(list, body);
	}
	if (r < 0)
		return r;
	*ret_array = TAKE_PTR(list);
	return 0;
}

int store_get(struct store *s, const char *kind, const char *ns, const char *name, json_t **ret,
	      struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *q = NULL;
	int r = sql_prepare(s->objects, &q, err,
			    "SELECT body FROM objects WHERE kind = ? AND ns = ? AND name = ?",
			    "sss", kind, ns, name);

	if (r == 0)
		r = sql_row(q, err);
	if (r == 0)
		return err_set(err, -ENOENT, "%s \"%s\" not found", kind, name);
	return r < 0 ? r : store_load_body(q, 0, ret, err);
}

int store_delete(struct store *s, const char *kind, const char *ns, const char *name,
		 struct err *err)
{
	int r = sql_exec(s->objects, "BEGIN IMMEDIATE", err);

	if (r == 0)
		r = sql_run(s->objects, err,
			    "DELETE FROM objects WHERE kind = ? AND ns = ? AND name = ?", "sss",
			    kind, ns, name);
	if (r == 0 && !sqlite3_changes(s->objects)) /* before another statement counts */
		r = err_set(err, -ENOENT, "%s \"%s\" not found", kind, name);
	return end_change(s, r, s->version + 1, err);
}

int store_list(struct store *s, const char *kind, const char *ns, json_t **ret_array,
	       struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *q = NULL;
	int r;

	r = sql_prepare(s->objects, &q, err,
			"SELECT body FROM objects WHERE kind = ? AND (?2 IS NULL OR ns = ?2)"
			" ORDER BY ns, name",
			"ss", kind, ns);
	return r < 0 ? r : store_load_list(q, ret_array, err);
}

int store_status_put(struct store *s, const char *uid, const json_t *status, struct err *err)
{
	_cleanup_free_ char *text = status ? json_dumps(status, JSON_COMPACT) : NULL;

	if (!status)
		return sql_run(s->runtime, err, "DELETE FROM status WHERE uid = ?", "s", uid);
	if (!text)
		return err_set(err, -EINVAL, "status of %s: not valid JSON", uid);
	return sql_run(s->runtime, err, "INSERT OR REPLACE INTO status VALUES (?, ?)", "ss", uid,
		       text);
}

int store_status_get(struct store *s, const char *uid, json_t **ret, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *q = NULL;
	int r = sql_prepare(s->runtime, &q, err, "SELECT body FROM status WHERE uid = ?", "s", uid);

	if (r == 0)
		r = sql_row(q, err);
	if (r == 0)
		return -ENOENT;
	return r < 0 ? r : store_load_body(q, 0, ret, err);
}

void store_pod_done(struct store_pod *p)
{
	free(p->uid);
	free(p->ns);
	free(p->name);
	json_decref(p->plan);
	*p = (struct store_pod){0};
}

int store_pod_put(struct store *s, const struct store_pod *p, struct err *err)
{
	_cleanup_free_ char *plan = p->plan ? json_dumps(p->plan, JSON_COMPACT) : NULL;
	const char *step = p->step >= 0 && p->step < pod_n_steps ? pod_steps[p->step].name : NULL;

	return sql_run(s->runtime, err,
		       "INSERT OR REPLACE INTO pods VALUES (?, ?, ?, ?, ?, ?, ?, ?)", "ssssiiis",
		       p->uid, p->ns, p->name, step, (int64_t)p->host_id, p->pid,
		       (int64_t)p->pid_start, plan);
}

int store_pod_delete(struct store *s, const char *uid, struct err *err)
{
	return sql_run(s->runtime, err, "DELETE FROM pods WHERE uid = ?", "s", uid);
}

int store_pods(struct store *s, struct store_pod **ret, size_t *ret_n, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *q = NULL;
	struct store_pod *pods = NULL;
	size_t n = 0;
	int r;

	r = sql_prepare(s->runtime, &q, err,
			"SELECT uid, ns, name, step, host_id, pid, pid_start, plan FROM pods",
			NULL);
	while (r == 0 && (r = sql_row(q, err)) > 0) {
		struct store_pod *p;

		pods = xrealloc(pods, n + 1, sizeof *pods);
		p = &pods[n++];
		*p = (struct store_pod){
			.uid = xstrdup((const char *)sqlite3_column_text(q, 0)),
			.ns = xstrdup((const char *)sqlite3_column_text(q, 1)),
			.name = xstrdup((const char *)sqlite3_column_text(q, 2)),
			.step = pod_step_index((const char *)sqlite3_column_text(q, 3)),
			.host_id = (uint32_t)sqlite3_column_int64(q, 4),
			.pid = sqlite3_column_int64(q, 5),
			.pid_start = (uint64_t)sqlite3_column_int64(q, 6),
		};
		r = sqlite3_column_type(q, 7) == SQLITE_NULL ? 0
							     : store_load_body(q, 7, &p->plan, err);
	}
	if (r < 0) {
		for (size_t i = 0; i < n; i++)
			store_pod_done(&pods[i]);
		free(pods);
		return r;
	}
	*ret = pods;
	*ret_n = n;
	return 0;
}

/* Column role: a vCPU's number, or one of these; IO threads count down from ROLE_IO. */
enum { ROLE_EMULATOR = -1, ROLE_IO = -2 };

static int take_cpu(struct store *s, const char *uid, int cpu, int role, struct err *err)
{
	return sql_run(s->runtime, err, "INSERT INTO cpus VALUES (?, ?, ?)", "isi", (int64_t)cpu,
		       uid, (int64_t)role);
}

int store_cpus_take(struct store *s, const char *uid, const struct cpu_assignment *cpus,
		    struct err *err)
{
	int r = sql_exec(s->runtime, "BEGIN IMMEDIATE", err);

	if (r < 0)
		return r;
	for (unsigned i = 0; r == 0 && i < cpus->n_vcpus; i++)
		r = take_cpu(s, uid, cpus->vcpu[i], (int)i, err);
	for (unsigned i = 0; r == 0 && i < cpus->n_io; i++)
		r = take_cpu(s, uid, cpus->io[i], ROLE_IO - (int)i, err);
	for (int cpu = 0; r == 0 && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &cpus->emulator))
			r = take_cpu(s, uid, cpu, ROLE_EMULATOR, err);
	return sql_end(s->runtime, r, err);
}

int store_cpus_free(struct store *s, const char *uid, struct err *err)
{
	return sql_run(s->runtime, err, "DELETE FROM cpus WHERE uid = ?", "s", uid);
}

/* Roles come in their order and without a gap. */
static bool add_cpu(struct cpu_assignment *held, int64_t cpu, int64_t role)
{
	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return false;
	CPU_SET((int)cpu, &held->all);
	if (role == ROLE_EMULATOR) {
		CPU_SET((int)cpu, &held->emulator);
		return true;
	}
	if (role == ROLE_IO - (int64_t)held->n_io && held->n_io < CPU_MAX_IO) {
		held->io[held->n_io++] = (int)cpu;
		return true;
	}
	if (role != held->n_vcpus || held->n_vcpus == CPU_MAX_VCPUS)
		return false;
	held->vcpu[held->n_vcpus++] = (int)cpu;
	return true;
}

int store_cpus_of(struct store *s, const char *uid, struct cpu_assignment *ret, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *q = NULL;
	struct cpu_assignment held = {0};
	int r = sql_prepare(s->runtime, &q, err,
			    "SELECT cpu, role FROM cpus WHERE uid = ? ORDER BY abs(role)", "s",
			    uid);

	if (r < 0)
		return r;
	while ((r = sql_row(q, err)) > 0)
		if (!add_cpu(&held, sqlite3_column_int64(q, 0), sqlite3_column_int64(q, 1)))
			return sql_damaged(s->runtime, err, "CPUs that nobody can hold");
	if (r == 0)
		*ret = held;
	return r;
}
