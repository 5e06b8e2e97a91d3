// SPDX-License-Identifier: Apache-2.0
#include "handler/logstream.h"

#include "handler/k8s_status.h"
#include "handler/objstore.h"
#include "handler/podlog.h"
#include "handler/stream.h"
#include "handler/vmstatus.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>

struct logstream {
	struct logstream *next;
	struct handler *h; /* borrowed */
	char uid[UUID_TEXT];
	struct podlog log;
	uint64_t pos;
	uint64_t left; /* bytes, of who does not follow: what was there, not what comes */
	sd_event_source *changes; /* NULL: does not follow */
	bool ended;		  /* no more will be written */
	struct stream *to;	  /* borrowed: it owns this */
};

static ssize_t on_read(void *arg, char *buf, size_t size)
{
	struct logstream *s = arg;
	ssize_t n;

	if (!s->changes && size > s->left)
		size = s->left;
	n = logfile_read(s->log.fd, s->log.max, &s->pos, buf, size);
	if (n > 0)
		s->left -= s->changes ? 0 : (uint64_t)n;
	if (n == 0 && (!s->changes || s->ended))
		return -ENODATA;
	return n;
}

static bool on_ended(void *arg)
{
	struct logstream *s = arg;

	return s->ended;
}

static void on_end(void *arg)
{
	struct logstream *s = arg;

	s->ended = true;
}

static void on_free(void *arg)
{
	struct logstream *s = arg;

	for (struct logstream **p = &s->h->logs; *p; p = &(*p)->next)
		if (*p == s) {
			*p = s->next;
			break;
		}
	sd_event_source_disable_unref(s->changes);
	(void)fd_close(s->log.fd);
	free(s->log.live);
	free(s);
}

static int on_change(sd_event_source *source, const struct inotify_event *event, void *userdata)
{
	struct logstream *s = userdata;

	(void)source;
	(void)event;
	stream_wake(s->to);
	return 0;
}

void logstreams_end(struct handler *h, const char *uid)
{
	for (struct logstream *s = h->logs; s; s = s->next)
		if (str_eq(s->uid, uid)) {
			s->ended = true;
			stream_wake(s->to);
		}
}

static int begin(struct logstream *s, const struct call *c, struct err *err)
{
	const char *which = c->container && *c->container ? c->container : "console";
	uint64_t lines;
	int r = podlog_open(s->h, s->uid, which, &s->log, err);

	if (r == 0 && c->tail_lines && *c->tail_lines) {
		if (call_number(c->tail_lines, &lines) < 0)
			return err_set(err, -EINVAL, "tailLines: '%.40s' is not a number",
				       c->tail_lines);
		r = logfile_tail(s->log.fd, s->log.max, lines, &s->pos);
		if (r < 0)
			return err_errno(err, r, "log '%s'", which);
	}
	s->left = s->log.max;
	if (r == 0 && c->follow && s->log.live) {
		r = sd_event_add_inotify(s->h->event, &s->changes, s->log.live, IN_MODIFY,
					 on_change, s);
		if (r < 0)
			return err_errno(err, r, "log '%s': watch", which);
		(void)sd_event_source_set_description(s->changes, "log follower");
	}
	return r;
}

enum MHD_Result logstream_request(struct request *r, const struct call *c)
{
	static const struct stream_ops ops = {
		.read = on_read, .ended = on_ended, .end = on_end, .free = on_free};
	const struct route *to = &c->route;
	_cleanup_json_ json_t *vmi = NULL;
	struct logstream *s;
	struct err err = {0};
	json_t *status = NULL;
	unsigned code;
	int e = object_load(c->h, to->kind, to->ns, to->name, &vmi, &err);

	if (e == -ENOENT) {
		code = k8s_not_found(&status, to->kind, to->name);
		return reply_json(r, code, status);
	}
	s = xcalloc(1, sizeof *s);
	s->h = c->h;
	s->log.fd = -1;
	(void)snprintf(s->uid, sizeof s->uid, "%s", object_uid(vmi));
	s->next = s->h->logs;
	s->h->logs = s;
	s->to = stream_new(r, &ops, s);
	if (e == 0)
		e = begin(s, c, &err);
	if (e == 0)
		return stream_start(s->to, r, "text/plain", /* timeout_seconds= */ 0);
	stream_free(s->to);
	code = e == -EINVAL   ? k8s_bad_request(&status, "%s", err.msg)
	       : e == -ENOENT ? k8s_failure(&status, 409, "Conflict", "%s%s", err.msg,
					    vmstatus_vmi_ran(vmi)     ? ""
					    : vmstatus_vmi_final(vmi) ? ": it never ran"
								      : " yet")
			      : k8s_internal(&status, &err);
	return reply_json(r, code, status);
}
