// SPDX-License-Identifier: Apache-2.0
#include "handler/manifests.h"

#include "handler/manifests_apply.h"
#include "handler/node.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"
#include "lib/yaml.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>

/* A folder that is not there can't be watched; the kubelet looks as often (fileCheckFrequency). */
#define LOOK_USEC (20 * 1000000ull)
#define CHANGES                                                                                    \
	(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF)

struct manifests {
	struct manifest wanted; /* of all files that are right */
	json_t *bad;		/* {file: true}: what these made is left as it is */
	json_t *unread;		/* what is wrong in files, one line each */
	json_t *problems;	/* that, and what could not be applied, as it was last told */
	bool there, stale; /* the folder is there; there may be objects of files that are not */
	sd_event_source *changes, *look;
};

static int is_manifest(const struct dirent *e)
{
	return manifest_is_file(e->d_name);
}

static void on_wrong(void *arg, const char *text)
{
	json_t *list = arg;

	if (json_array_size(list) < MANIFESTS_PROBLEMS_MAX)
		(void)json_array_append_new(list, json_string(text));
}

static void drop_from(struct manifest *m, size_t first)
{
	struct manifest rest = {.items = m->items + first, .n = m->n - first};

	for (size_t i = 0; i < rest.n; i++)
		manifest_item_done(&rest.items[i]);
	m->n = first;
}

/* A file that is wrong as a whole. */
static void wrong_file(struct manifests *m, const char *path, const char *why)
{
	_cleanup_free_ char *text = xasprintf("%s: %s", path, why);

	on_wrong(m->unread, text);
	m->wanted.errors++;
}

/* Adds all of the file, or none of it. One without an object may be half of what it was. */
static void read_file(struct manifests *m, int dir, const char *folder, const char *file)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", folder, file), *text = NULL;
	unsigned errors = m->wanted.errors;
	size_t len, first = m->wanted.n;
	int r = file_read_at(dir, file, YAML_BYTES_MAX, &text, &len);

	if (r == -ENOENT) /* gone since the folder was read */
		return;
	if (r < 0)
		wrong_file(m, path, strerror(-r));
	else
		manifest_take(&m->wanted, path, text, len, NULL, on_wrong, m->unread);
	if (m->wanted.errors == errors && m->wanted.n == first)
		wrong_file(m, path,
			   "no object in it: remove the file if nothing of it is to be there");
	if (m->wanted.errors == errors)
		return;
	drop_from(&m->wanted, first);
	(void)json_object_set_new(m->bad, file, json_true());
}

static void read_folder(struct handler *h)
{
	struct manifests *m = h->manifests;
	const char *folder = h->paths.manifests;
	_cleanup_fd_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **names = NULL;
	int n = fd < 0 ? -1 : scandirat(fd, ".", &names, is_manifest, alphasort);
	_cleanup_free_ char *why = n < 0 ? xasprintf("%s: %s", folder, strerror(errno)) : NULL;

	m->there = n >= 0 || errno != ENOENT;
	(void)json_array_clear(m->unread);
	if (n < 0 && m->there) { /* what was read before goes on */
		on_wrong(m->unread, why);
		return;
	}
	manifest_done(&m->wanted);
	(void)json_object_clear(m->bad);
	for (int i = 0; i < n; i++) {
		read_file(m, fd, folder, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	manifest_sort(&m->wanted);
	m->stale = true;
	handler_changed(h);
}

/* --- following it ---------------------------------------------------------------------------- */

static void watch_folder(struct handler *h);

static int on_changes(sd_event_source *source, const struct inotify_event *event, void *userdata)
{
	struct handler *h = userdata;

	(void)source;
	if (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) {
		h->manifests->changes = sd_event_source_disable_unref(h->manifests->changes);
		watch_folder(h);
	}
	read_folder(h);
	return 0;
}

static int on_look(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct handler *h = userdata;

	(void)source;
	(void)usec;
	watch_folder(h);
	if (h->manifests->changes)
		read_folder(h);
	return 0;
}

/* Or look again later for one that is not there. */
static void watch_folder(struct handler *h)
{
	struct manifests *m = h->manifests;
	int r = sd_event_add_inotify(h->event, &m->changes, h->paths.manifests,
				     CHANGES | IN_ONLYDIR, on_changes, h);

	m->look = sd_event_source_disable_unref(m->look);
	if (r >= 0) {
		(void)sd_event_source_set_description(m->changes, "manifests");
		return;
	}
	m->changes = NULL;
	r = sd_event_add_time_relative(h->event, &m->look, CLOCK_MONOTONIC, LOOK_USEC,
				       /* accuracy= */ 1000000, on_look, h);
	if (r < 0)
		log_error("%s: timer: %s", h->paths.manifests, strerror(-r));
}

void manifests_open(struct handler *h)
{
	struct manifests *m = xcalloc(1, sizeof *m);

	m->bad = json_object();
	m->unread = json_array();
	m->problems = json_array();
	h->manifests = m;
	watch_folder(h); /* first, so that no change is missed */
	read_folder(h);
}

void manifests_close(struct handler *h)
{
	struct manifests *m = h->manifests;

	if (!m)
		return;
	(void)sd_event_source_disable_unref(m->changes);
	(void)sd_event_source_disable_unref(m->look);
	manifest_done(&m->wanted);
	json_decref(m->bad);
	json_decref(m->unread);
	json_decref(m->problems);
	free(m);
	h->manifests = NULL;
}

/* --- objects --------------------------------------------------------------------------------- */

static bool has_text(const json_t *list, const char *text)
{
	const json_t *t;
	size_t i;

	json_array_foreach (list, i, t)
		if (str_eq(json_string_value(t), text))
			return true;
	return false;
}

/* Each problem once, when it is new. */
static void tell(struct handler *h, json_t *problems_consume)
{
	struct manifests *m = h->manifests;
	const json_t *text;
	size_t i;

	if (json_equal(m->problems, problems_consume)) {
		json_decref(problems_consume);
		return;
	}
	json_array_foreach (problems_consume, i, text)
		if (!has_text(m->problems, json_string_value(text)))
			log_error("%s", json_string_value(text));
	json_decref(m->problems);
	m->problems = problems_consume;
	node_publish(h);
}

void manifests_reconcile(struct handler *h)
{
	struct manifests *m = h->manifests;
	_cleanup_json_ json_t *refused = NULL;
	json_t *problems;
	bool any;

	if (!m)
		return;
	refused = json_object();
	problems = json_deep_copy(m->unread);
	manifests_apply(h, &m->wanted, refused, problems);
	any = json_object_size(refused) > 0;
	(void)json_object_update(refused, m->bad);
	/* what such a file made before stays, and is looked at again */
	if (m->stale || any)
		m->stale = !manifests_remove_stale(h, &m->wanted, refused, problems) || any;
	tell(h, problems);
}

json_t *manifests_condition(const struct handler *h)
{
	const struct manifests *m = h->manifests;
	size_t n = m ? json_array_size(m->problems) : 0;

	if (!m || !m->there)
		return NULL;
	if (!n)
		return json_pack("{s:s, s:s, s:s, s:s++}", "type", "virtpod.io/Manifests", "status",
				 "True", "reason", "Applied", "message", "what ",
				 h->paths.manifests, " says is there");
	return json_pack("{s:s, s:s, s:s, s:s}", "type", "virtpod.io/Manifests", "status", "False",
			 "reason", "Invalid", "message",
			 json_string_value(json_array_get(m->problems, 0)));
}
