// SPDX-License-Identifier: Apache-2.0
/* The handler's requests, one function each; docs/wire.md describes them. */
#include "launcher/internal.h"

#include "api/wire.h"
#include "lib/json.h"
#include "lib/stop.h"
#include "lib/util.h"

#include <errno.h>

/* A request whose reply waits for QEMU. */
struct pending {
	struct launcher *l;
	struct reply_to to;
};

static struct pending *pending_new(struct launcher *l, const struct reply_to *to)
{
	struct pending *p = xcalloc(1, sizeof *p);

	*p = (struct pending){.l = l, .to = *to};
	return p;
}

static void pending_refuse(struct pending *p, int code, const char *what, const char *why)
{
	struct err err = {0};

	(void)err_set(&err, code, "%s: %s", what, why ? why : "no answer");
	peer_refuse(p->l->peer, &p->to, &err);
	free(p);
}

static void call_or_refuse(struct pending *p, const char *command, qmp_reply_fn fn)
{
	if (!p->l->qmp || qmp_call(p->l->qmp, command, NULL, QMP_TIMEOUT_US, fn, p) < 0)
		pending_refuse(p, -ENOTCONN, command, "QEMU takes no commands");
}

/* ---- continue ---- */

static void on_running(void *arg, int r, const json_t *result, const char *error)
{
	struct pending *p = arg;
	const char *status = json_str(result, "status");

	if (r < 0 || !status) {
		pending_refuse(p, -EIO, "query-status", error);
		return;
	}
	if (!str_eq(status, "running")) {
		pending_refuse(p, -EIO, "continue: the guest does not run", status);
		return;
	}
	stop_at("launcher-continued");
	peer_reply(p->l->peer, &p->to, json_pack("{s:s}", "status", status));
	free(p);
}

static void on_cont(void *arg, int r, const json_t *result, const char *error)
{
	struct pending *p = arg;

	(void)result;
	if (r < 0) {
		pending_refuse(p, -EIO, "cont", error);
		return;
	}
	if (p->l->stage == STAGE_PAUSED)
		p->l->stage = STAGE_RUNNING;
	call_or_refuse(p, "query-status", on_running);
}

static int continue_request(struct launcher *l, const struct reply_to *to, struct err *err)
{
	if (l->stage < STAGE_PAUSED)
		return err_set(err, -EPERM, "no QEMU has been started");
	if (l->shutdown.phase != SHUTDOWN_IDLE)
		return err_set(err, -EPERM, "the guest is being shut down");
	call_or_refuse(pending_new(l, to), "cont", on_cont);
	return 0;
}

/* ---- status ---- */

static void send_status(struct launcher *l, const struct reply_to *to, const char *status)
{
	json_t *o = start_reply(l);

	(void)json_object_set_new(o, "status", json_string(status));
	if (l->plan)
		(void)json_object_set_new(o, "plan", plan_to_json(l->plan));
	peer_reply(l->peer, to, o);
}

static void on_status(void *arg, int r, const json_t *result, const char *error)
{
	struct pending *p = arg;
	const char *status = json_str(result, "status");

	(void)error;
	/* a QEMU that hangs is still a VM with a plan and threads, and the handler must learn of it */
	send_status(p->l, &p->to, r == 0 && status ? status : "unresponsive");
	free(p);
}

static int status_request(struct launcher *l, const struct reply_to *to)
{
	struct pending *p;

	if (l->stage < STAGE_PAUSED) {
		send_status(l, to, l->stage == STAGE_STARTING ? "starting" : "none");
		return 0;
	}
	p = pending_new(l, to);
	if (qmp_call(l->qmp, "query-status", NULL, QMP_TIMEOUT_US, on_status, p) < 0)
		on_status(p, -ENOTCONN, NULL, NULL);
	return 0;
}

/* ---- the others answer at once ---- */

static int console_request(struct launcher *l, const struct reply_to *to, struct named_fds *fds,
			   struct err *err)
{
	int fd = named_fds_take(fds, "client"), r;

	if (fd < 0)
		return err_set(err, -EINVAL, "fds: want 'client'");
	if (!l->console) {
		(void)fd_close(fd);
		return err_set(err, -ENOENT, "the VM has no serial console");
	}
	r = console_attach(l->console, fd, err);
	if (r == 0)
		peer_reply(l->peer, to, NULL);
	return r;
}

static int shutdown_request(struct launcher *l, const struct reply_to *to, const json_t *msg,
			    struct err *err)
{
	const json_t *grace = json_object_get(msg, "graceSeconds");
	json_int_t n = json_integer_value(grace);

	if (!json_is_integer(grace) || n < 0 || n > WIRE_GRACE_MAX_SECONDS)
		return err_set(err, -EINVAL, "graceSeconds: want a number of 0 to %u",
			       WIRE_GRACE_MAX_SECONDS);
	peer_reply(l->peer, to, NULL);
	stop_begin(l, (uint64_t)n);
	return 0;
}

static int kill_request(struct launcher *l, const struct reply_to *to)
{
	peer_reply(l->peer, to, NULL);
	l->ending.asked = true;
	stop_kill(l);
	return 0;
}

void command_request(void *arg, const char *name, const struct reply_to *to, const json_t *msg,
		     const int *fds, size_t n_fds)
{
	_cleanup_named_fds_ struct named_fds named = {.n = 0};
	struct launcher *l = arg;
	struct err err = {0};
	int r = named_fds_init(&named, msg, fds, n_fds, &err);

	if (r < 0)
		;
	else if (str_eq(name, "enter"))
		enter_request(l, to, msg, &named);
	else if (str_eq(name, "start"))
		start_request(l, to, msg, &named);
	else if (str_eq(name, "continue"))
		r = continue_request(l, to, &err);
	else if (str_eq(name, "status"))
		r = status_request(l, to);
	else if (str_eq(name, "console"))
		r = console_request(l, to, &named, &err);
	else if (str_eq(name, "shutdown"))
		r = shutdown_request(l, to, msg, &err);
	else if (str_eq(name, "kill"))
		r = kill_request(l, to);
	else
		r = err_set(&err, -EOPNOTSUPP, "no such request");
	if (r == 0)
		return;
	err_prefix(&err, "%.40s", name);
	peer_refuse(l->peer, to, &err);
}
