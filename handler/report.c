// SPDX-License-Identifier: Apache-2.0
#include "handler/report.h"

#include "handler/k8s_status.h"

#include "lib/util.h"

#include <errno.h>

struct report {
	struct report *next;
	struct server *s;
	struct request *request; /* borrowed; NULL: its client has left */
};

static void unlink_report(struct report *w)
{
	for (struct report **p = &w->s->reports; *p; p = &(*p)->next)
		if (*p == w) {
			*p = w->next;
			return;
		}
}

static void wake(struct report *w)
{
	if (!w->request)
		return;
	w->request->report = NULL;
	MHD_resume_connection(w->request->connection);
	w->request = NULL;
}

static void on_asked(void *arg)
{
	struct report *w = arg;

	if (w->s) {
		unlink_report(w);
		wake(w);
		server_wake(w->s);
	}
	free(w);
}

bool report_ask(struct request *r, const struct call *c)
{
	struct report *w;

	if (r->asked || !r->s->options.refresh)
		return false;
	r->asked = true;
	w = xcalloc(1, sizeof *w);
	*w = (struct report){.s = r->s, .request = r};
	if (r->s->options.refresh(r->s->h, c->route.ns, c->route.name, on_asked, w) < 0) {
		free(w);
		return false;
	}
	w->next = r->s->reports;
	r->s->reports = w;
	r->report = w;
	MHD_suspend_connection(r->connection);
	return true;
}

unsigned report_answer(struct server *s, const struct call *c, json_t **ret)
{
	const struct route *to = &c->route;
	struct err err = {0};
	int r = (to->to == ROUTE_INSPECT ? s->options.inspect
					 : s->options.verify)(s->h, to->ns, to->name, ret, &err);

	if (r == -ENOENT)
		return k8s_not_found(ret, to->kind, to->name);
	if (r == -ESRCH) /* it has no running pod */
		return k8s_conflict(ret, to->kind, to->name, err.msg);
	return r < 0 ? k8s_internal(ret, &err) : 200;
}

void report_forget(struct request *r)
{
	if (r->report)
		r->report->request = NULL;
}

void report_close_all(struct server *s)
{
	while (s->reports) {
		struct report *w = s->reports;

		s->reports = w->next;
		wake(w);
		w->s = NULL; /* on_asked is still to come, and finds nothing else */
	}
}
