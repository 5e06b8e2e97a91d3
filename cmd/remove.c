// SPDX-License-Identifier: Apache-2.0
#include "cmd/remove.h"

#include "cmd/follow.h"
#include "cmd/label.h"
#include "cmd/url.h"
#include "cmd/verdict.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#define SLOW_US 1000000u /* who is gone within this time has nothing to be said about */

struct gone_wait {
	struct removing *all;
	const struct removal *what;
	struct follow *follow;
	json_t *object; /* as it was seen last, owned; NULL: gone, or not listed yet */
	bool listed, gone;
};

struct removing {
	sd_event *event;
	struct gone_wait *waits;
	size_t n, left;
	remove_gone_fn on_gone;
	void *arg;
	struct err err;
};

int remove_ask(struct client *c, const struct kind *k, const char *ns, const char *name,
	       long grace_seconds, char **ret_uid, struct err *err)
{
	_cleanup_json_ json_t *answer = NULL;
	_cleanup_free_ char *path = NULL;
	char query[48] = "";
	const char *uid;
	int r;

	if (grace_seconds != GRACE_OF_VM)
		(void)snprintf(query, sizeof query, "gracePeriodSeconds=%ld", grace_seconds);
	path = url_object(k, ns, name, *query ? query : NULL);
	r = client_call(c, "DELETE", path, NULL, &answer, err);
	if (r < 0)
		return r;
	/* the object, or a Status that names it */
	uid = object_uid(answer);
	if (!*uid && json_str(answer, "details.uid"))
		uid = json_str(answer, "details.uid");
	*ret_uid = xstrdup(uid);
	return 0;
}

static void see(struct gone_wait *w, json_t *object)
{
	json_decref(w->object);
	w->object = json_incref(object);
}

static void gone(struct gone_wait *w)
{
	if (w->gone)
		return;
	see(w, NULL);
	w->gone = true;
	if (w->all->on_gone)
		w->all->on_gone(w->all->arg, w->what);
	if (--w->all->left == 0)
		(void)sd_event_exit(w->all->event, 0);
}

static void on_change(void *arg, enum follow_what what, json_t *object, const struct err *err)
{
	struct gone_wait *w = arg;
	/* another object of that name means that ours has gone */
	bool ours = object && str_eq(object_uid(object), w->what->uid);

	switch (what) {
	case FOLLOW_LISTED:
	case FOLLOW_CHANGED:
		if (ours)
			see(w, object);
		else if (what == FOLLOW_CHANGED)
			gone(w);
		w->listed = ours;
		break;
	case FOLLOW_SYNCED:
		if (!w->listed)
			gone(w);
		w->listed = false; /* until it is listed again */
		break;
	case FOLLOW_DELETED:
		if (ours)
			gone(w);
		break;
	case FOLLOW_FAILED:
		w->all->err = *err;
		(void)sd_event_exit(w->all->event, err->code);
		break;
	}
}

/* A guest may take its whole grace period: that this is not a hang is said once. */
static int on_slow(sd_event_source *source, uint64_t usec, void *arg)
{
	struct removing *all = arg;

	(void)source;
	(void)usec;
	for (size_t i = 0; i < all->n; i++) {
		const json_t *object = all->waits[i].object;
		long left = verdict_kill_in(object, time(NULL));
		_cleanup_free_ char *label = NULL;

		if (left < 0)
			continue;
		label = label_object(all->waits[i].what->kind, object);
		log_info("%s: asked to shut down, killed in %ld s", label, left);
	}
	return 0;
}

static int wait_all(struct client *c, struct removing *all, struct err *err)
{
	int r = sd_event_add_time_relative(all->event, NULL, CLOCK_MONOTONIC, SLOW_US, 1000,
					   on_slow, all);

	if (r < 0)
		return err_errno(err, r, "event loop");
	for (size_t i = 0; i < all->n; i++) {
		struct gone_wait *w = &all->waits[i];

		r = follow_open(c, all->event, w->what->kind, w->what->ns, w->what->name, on_change,
				w, &w->follow, err);
		if (r < 0)
			return r;
	}
	r = all->left ? sd_event_loop(all->event) : 0;
	if (all->err.code && err)
		*err = all->err;
	return all->err.code ? all->err.code : r < 0 ? err_errno(err, r, "event loop") : 0;
}

int remove_wait_all(struct client *c, const struct removal *list, size_t n, remove_gone_fn on_gone,
		    void *arg, struct err *err)
{
	struct removing all = {.n = n, .left = n, .on_gone = on_gone, .arg = arg};
	int r = sd_event_new(&all.event);

	if (r < 0)
		return err_errno(err, r, "event loop");
	all.waits = xcalloc(n + 1, sizeof *all.waits);
	for (size_t i = 0; i < n; i++)
		all.waits[i] = (struct gone_wait){.all = &all, .what = &list[i]};
	r = wait_all(c, &all, err);
	for (size_t i = 0; i < n; i++) {
		follow_free(all.waits[i].follow);
		json_decref(all.waits[i].object);
	}
	free(all.waits);
	sd_event_unref(all.event);
	return r;
}

int remove_wait(struct client *c, const struct kind *k, const char *ns, const char *name,
		const char *uid, struct err *err)
{
	_cleanup_free_ char *whose = xstrdup(uid);
	const struct removal one = {k, ns, name, whose};

	return remove_wait_all(c, &one, 1, /* on_gone= */ NULL, NULL, err);
}
