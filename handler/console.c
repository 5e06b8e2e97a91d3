// SPDX-License-Identifier: Apache-2.0
#include "handler/console_internal.h"

#include "handler/handshake.h"
#include "handler/k8s_status.h"
#include "handler/objstore.h"

#include "lib/json.h"
#include "lib/log.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define PROTOCOL "plain.kubevirt.io"

void console_free(struct console *c)
{
	for (struct console **p = &c->s->consoles; *p; p = &(*p)->next)
		if (*p == c) {
			*p = c->next;
			break;
		}
	sd_event_source_disable_unref(c->client_io);
	sd_event_source_disable_unref(c->pod_io);
	sd_event_source_disable_unref(c->linger);
	if (c->ws)
		wslay_event_context_free(c->ws);
	(void)fd_close(c->pod_fd);
	free(c->early);
	free(c);
}

/* Is this an opening handshake that we can answer? */
static unsigned check_handshake(struct request *r, json_t **ret)
{
	const char *version = request_header(r, "Sec-WebSocket-Version");

	if (!handshake_list_has(request_header(r, "Upgrade"), "websocket") ||
	    !handshake_list_has(request_header(r, "Connection"), "upgrade"))
		return k8s_bad_request(ret, "the console is a WebSocket; this request asks for no "
					    "upgrade");
	if (!str_eq(version, "13"))
		return k8s_failure(ret, MHD_HTTP_UPGRADE_REQUIRED, "BadRequest",
				   "Sec-WebSocket-Version: only 13 is known");
	if (!handshake_key_ok(request_header(r, "Sec-WebSocket-Key")))
		return k8s_bad_request(
			ret, "Sec-WebSocket-Key: must be 16 bytes in base64 (24 letters)");
	return 0;
}

/* KubeVirt's refusals: a client keeps trying while the code is 400. */
static unsigned check_vmi(const struct call *c, json_t **ret)
{
	const struct kind *k = c->route.kind;
	_cleanup_json_ json_t *vmi = NULL;
	struct err err = {0};
	const char *phase;
	int r = object_load(c->h, k, c->route.ns, c->route.name, &vmi, &err);

	if (r == -ENOENT)
		return k8s_not_found(ret, k, c->route.name);
	if (r < 0)
		return k8s_internal(ret, &err);
	if (!json_flag(vmi, "spec.domain.devices.autoattachSerialConsole", true))
		return k8s_bad_request(ret, "No serial consoles are present.");
	phase = json_str(vmi, "status.phase");
	if (str_eq(phase, "Failed"))
		return k8s_conflict(ret, k, c->route.name, "VMI is in failed status");
	if (!str_eq(phase, "Running"))
		return k8s_bad_request(ret, "VMI is not running");
	return 0;
}

static struct console *console_new(struct request *r)
{
	struct console *c = xcalloc(1, sizeof *c);

	c->s = r->s;
	c->pod_fd = c->client_fd = -1;
	c->request = r;
	c->plain = handshake_list_has(request_header(r, "Sec-WebSocket-Protocol"), PROTOCOL);
	(void)snprintf(c->key, sizeof c->key, "%s", request_header(r, "Sec-WebSocket-Key"));
	c->next = r->s->consoles;
	r->s->consoles = c;
	return c;
}

/* The launcher has answered; the request goes on from libmicrohttpd's loop. */
static void on_done(void *arg, int r, const struct err *err)
{
	struct console *c = arg;

	if (c->orphan) {
		(void)fd_close(c->pod_fd);
		free(c);
		return;
	}
	c->waiting = false;
	c->result = r;
	if (r < 0 && err)
		c->failure = *err;
	MHD_resume_connection(c->request->connection);
	server_wake(c->s);
}

static int ask_launcher(struct console *c, const struct call *call, struct err *err)
{
	int pair[2], r = sock_pair(SOCK_STREAM, pair);

	if (r < 0)
		return err_errno(err, r, "console");
	c->pod_fd = pair[0];
	if (fcntl(c->pod_fd, F_SETFL, O_NONBLOCK) < 0) {
		r = -errno;
		(void)fd_close(pair[1]);
		return err_errno(err, r, "console");
	}
	return c->s->options.console(c->s->h, call->route.ns, call->route.name, pair[1], on_done, c,
				     err);
}

static unsigned refusal(int r, const struct err *err, json_t **ret)
{
	if (r == -EBUSY)
		return k8s_failure(ret, 409, "Conflict", "%s", err->msg);
	if (r == -ENOENT || r == -ECANCELED) /* it has just ended */
		return k8s_bad_request(ret, "VMI is not running");
	if (r == -ETIMEDOUT)
		return k8s_failure(ret, 504, "Timeout", "%s", err->msg);
	return k8s_internal(ret, err);
}

enum MHD_Result console_request(struct request *r, const struct call *c)
{
	struct console *console;
	struct err err = {0};
	json_t *status = NULL;
	unsigned code = check_handshake(r, &status);
	int e;

	if (code == 0)
		code = check_vmi(c, &status);
	if (code)
		return reply_json(r, code, status);
	console = console_new(r);
	e = ask_launcher(console, c, &err);
	if (e < 0) {
		console_free(console);
		code = refusal(e, &err, &status);
		return reply_json(r, code, status);
	}
	console->waiting = true;
	r->console = console;
	MHD_suspend_connection(r->connection);
	return MHD_YES;
}

/* libmicrohttpd has sent the 101: the connection is ours until MHD_UPGRADE_ACTION_CLOSE. */
static void on_upgrade(void *arg, struct MHD_Connection *connection, void *request,
		       const char *extra, size_t extra_len, MHD_socket sock,
		       struct MHD_UpgradeResponseHandle *upgrade)
{
	struct console *c = arg;

	(void)connection;
	(void)request;
	c->request->console = NULL;
	c->request = NULL;
	c->upgrade = upgrade;
	c->client_fd = sock;
	if (extra_len) {
		c->early = xcalloc(1, extra_len);
		memcpy(c->early, extra, extra_len);
		c->early_len = extra_len;
	}
	console_pump_start(c);
}

enum MHD_Result console_answered(struct request *r)
{
	struct console *c = r->console;
	struct MHD_Response *response;
	char accept[HANDSHAKE_ACCEPT];
	enum MHD_Result result;
	json_t *status = NULL;

	if (c->result < 0) {
		unsigned code = refusal(c->result, &c->failure, &status);

		r->console = NULL;
		console_free(c);
		return reply_json(r, code, status);
	}
	response = MHD_create_response_for_upgrade(on_upgrade, c);
	if (!response)
		return MHD_NO;
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_UPGRADE, "websocket");
	(void)MHD_add_response_header(response, "Sec-WebSocket-Accept",
				      handshake_accept(c->key, accept));
	if (c->plain)
		(void)MHD_add_response_header(response, "Sec-WebSocket-Protocol", PROTOCOL);
	result = MHD_queue_response(r->connection, MHD_HTTP_SWITCHING_PROTOCOLS, response);
	MHD_destroy_response(response);
	return result;
}

static void close_one(struct console *c)
{
	struct MHD_UpgradeResponseHandle *upgrade = c->upgrade;

	if (c->waiting) { /* on_done is still to come, and finds nothing else of us */
		c->orphan = true;
		c->request->console = NULL;
		MHD_resume_connection(c->request->connection);
		c->s->consoles = c->next;
		return;
	}
	if (c->request) /* answered, but libmicrohttpd has not run since: it ends the request */
		c->request->console = NULL;
	console_free(c);
	if (upgrade)
		(void)MHD_upgrade_action(upgrade, MHD_UPGRADE_ACTION_CLOSE);
}

void console_close_all(struct server *s)
{
	while (s->consoles)
		close_one(s->consoles);
}
