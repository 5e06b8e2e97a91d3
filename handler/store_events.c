// SPDX-License-Identifier: Apache-2.0
/* Events in run/runtime.db. What may be kept of them is handler/events.c's to say. */
#include "handler/store_internal.h"

#include "lib/json.h"

#include <errno.h>
#include <inttypes.h>

int store_event_put(struct store *s, const struct store_event *e, json_t *body, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	uint64_t next = store_next_version(s, err);
	char version[24];

	if (!next)
		return err ? err->code : -EIO;
	(void)snprintf(version, sizeof version, "%" PRIu64, next);
	(void)json_object_set_new(json_object_get(body, "metadata"), "resourceVersion",
				  json_string(version));
	text = json_dumps(body, JSON_COMPACT);
	if (!text)
		return err_set(err, -EINVAL, "event %s: not valid JSON", e->name);
	return sql_run(s->runtime, err, "INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?, ?, ?)",
		       "sssiis", e->ns, e->name, e->uid, e->last, (int64_t)next, text);
}

int store_event_get(struct store *s, const char *ns, const char *name, int64_t *ret_last,
		    json_t **ret, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *q = NULL;
	int r = sql_prepare(s->runtime, &q, err,
			    "SELECT body, last FROM events WHERE ns = ? AND name = ?", "ss", ns,
			    name);

	if (r == 0)
		r = sql_row(q, err);
	if (r == 0)
		return err_set(err, -ENOENT, "events \"%s\" not found", name);
	if (r > 0)
		r = store_load_body(q, 0, ret, err);
	if (r == 0 && ret_last)
		*ret_last = sqlite3_column_int64(q, 1);
	return r;
}

int store_event_list(struct store *s, const char *ns, json_t **ret_array, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *q = NULL;
	int r = sql_prepare(s->runtime, &q, err,
			    "SELECT body FROM events WHERE ?1 IS NULL OR ns = ?1 ORDER BY version",
			    "s", ns);

	return r < 0 ? r : store_load_list(q, ret_array, err);
}

int store_event_delete(struct store *s, const char *ns, const char *name, struct err *err)
{
	return sql_run(s->runtime, err, "DELETE FROM events WHERE ns = ? AND name = ?", "ss", ns,
		       name);
}

int store_event_excess(struct store *s, const char *uid, const struct store_event_bounds *keep,
		       json_t **ret_array, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *q = NULL;
	int r = sql_prepare(
		s->runtime, &q, err,
		"SELECT body FROM events WHERE last < ?1 OR version IN"
		" (SELECT version FROM events WHERE uid = ?2 ORDER BY version DESC LIMIT -1"
		" OFFSET ?3) OR version IN"
		" (SELECT version FROM events ORDER BY version DESC LIMIT -1 OFFSET ?4)",
		"isii", keep->since, uid, keep->of_object, keep->of_all);

	return r < 0 ? r : store_load_list(q, ret_array, err);
}
