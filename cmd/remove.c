// SPDX-License-Identifier: Apache-2.0
#include "cmd/remove.h"

#include "cmd/follow.h"
#include "cmd/url.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <stdio.h>

struct removal {
	sd_event *event;
	const char *uid;
	bool there;
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

static void on_change(void *arg, enum follow_what what, json_t *object, const struct err *err)
{
	struct removal *rm = arg;

	switch (what) {
	case FOLLOW_LISTED:
	case FOLLOW_CHANGED:
		/* another object of that name means that ours has gone */
		rm->there = str_eq(object_uid(object), rm->uid);
		if (what == FOLLOW_CHANGED && !rm->there)
			(void)sd_event_exit(rm->event, 0);
		break;
	case FOLLOW_SYNCED:
		if (!rm->there)
			(void)sd_event_exit(rm->event, 0);
		rm->there = false; /* until it is listed again */
		break;
	case FOLLOW_DELETED:
		if (str_eq(object_uid(object), rm->uid))
			(void)sd_event_exit(rm->event, 0);
		break;
	case FOLLOW_FAILED:
		rm->err = *err;
		(void)sd_event_exit(rm->event, err->code);
		break;
	}
}

int remove_wait(struct client *c, const struct kind *k, const char *ns, const char *name,
		const char *uid, struct err *err)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_follow_ struct follow *follow = NULL;
	struct removal rm = {.uid = uid};
	int r = sd_event_new(&event);

	if (r < 0)
		return err_errno(err, r, "event loop");
	rm.event = event;
	r = follow_open(c, event, k, ns, name, on_change, &rm, &follow, err);
	if (r < 0)
		return r;
	r = sd_event_loop(event);
	if (rm.err.code && err)
		*err = rm.err;
	return rm.err.code ? rm.err.code : r < 0 ? err_errno(err, r, "event loop") : 0;
}
