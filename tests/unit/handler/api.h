// SPDX-License-Identifier: Apache-2.0
/*
 * A real API server over a store in a temporary root, and a client of it, in one thread: whatever the
 * client waits for, it waits by running the server's loop, so that nothing depends on time.
 */
#pragma once

#include "tests/unit/unit.h"

#include "handler/config.h"
#include "handler/loop.h"
#include "handler/server_internal.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAIT_USEC 20000000ull /* only a test that fails waits as long */

struct api {
	struct handler h;
	char root[64];
};

struct client {
	struct api *a;
	int fd;
	char *in; /* what came and was not taken yet */
	size_t len;
	char *lines; /* of chunks that were taken (client_line) */
	bool ended;
};

static inline int api_fake_report(struct handler *h, const char *ns, const char *name, json_t **ret,
				  struct err *err)
{
	(void)h;
	if (strcmp(name, "gone") == 0)
		return err_set(err, -ENOENT, "not there");
	if (strcmp(name, "off") == 0)
		return err_set(err, -ESRCH, "the VM is not running");
	*ret = json_pack("{s:s, s:s}", "ns", ns, "name", name);
	return 0;
}

/* NULL options: the real bounds, consoles refused. */
static inline struct api *api_open(const struct server_options *options)
{
	static const struct server_options usual = {
		.timeout_seconds = 30,
		.connections = 256,
		.inspect = api_fake_report,
		.verify = api_fake_report,
	};
	struct api *a = xcalloc(1, sizeof *a);
	struct err err = {0};

	(void)snprintf(a->root, sizeof a->root, "/tmp/virtpod-test-api-XXXXXX");
	assert_non_null(mkdtemp(a->root));
	a->h.launcher_fd = a->h.lock_fd = -1;
	a->h.refused = json_object();
	(void)snprintf(a->h.node, sizeof a->h.node, "lab1");
	assert_int_equal(paths_open(a->root, true, &a->h.paths, &err), 0);
	assert_int_equal(sd_event_new(&a->h.event), 0);
	assert_int_equal(store_open(&a->h.paths, &a->h.store, &err), 0);
	assert_int_equal(cpu_topology_synthetic("pack:1 core:4 pu:2", &a->h.topology, &err), 0);
	assert_int_equal(config_load(&a->h, &err), 0);
	assert_int_equal(loop_init(&a->h, &err), 0);
	if (server_open_with(&a->h, options ? options : &usual, &err) < 0)
		fail_msg("%s", err.msg);
	return a;
}

static inline void api_close(struct api *a)
{
	server_close(&a->h);
	sd_event_source_disable_unref(a->h.reconcile);
	store_close(a->h.store);
	(void)sd_event_unref(a->h.event);
	json_decref(a->h.refused);
	paths_close(&a->h.paths);
	(void)rm_rf_at(AT_FDCWD, a->root);
	free(a);
}

/* One round of the loop; it waits for the next event. The reconcile round is not run (no pods here). */
static inline void api_turn(struct api *a)
{
	(void)sd_event_source_set_enabled(a->h.reconcile, SD_EVENT_OFF);
	if (sd_event_run(a->h.event, WAIT_USEC) == 0)
		fail_msg("the server does nothing more, but something is awaited");
}

static inline struct client *client_open(struct api *a)
{
	struct client *c = xcalloc(1, sizeof *c);

	c->a = a;
	c->fd = -1;
	assert_int_equal(sock_connect_at(a->h.paths.run_fd, "handler.sock",
					 SOCK_STREAM | SOCK_NONBLOCK, &c->fd),
			 0);
	return c;
}

static inline void client_close(struct client *c)
{
	(void)fd_close(c->fd);
	free(c->in);
	free(c->lines);
	free(c);
}

static inline void client_send(struct client *c, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = send(c->fd, p, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN) {
			api_turn(c->a);
			continue;
		}
		if (n < 0) /* the server has answered and closed: what it said is what matters */
			return;
		p += n;
		len -= (size_t)n;
	}
}

/* More bytes, or the end; runs the loop until then. */
static inline void client_more(struct client *c)
{
	char buf[65536];
	ssize_t n;

	for (;;) {
		n = recv(c->fd, buf, sizeof buf, 0);
		if (n >= 0 || errno != EAGAIN)
			break;
		api_turn(c->a);
	}
	if (n <= 0) {
		c->ended = true;
		return;
	}
	c->in = xrealloc(c->in, c->len + (size_t)n + 1, 1);
	memcpy(c->in + c->len, buf, (size_t)n);
	c->len += (size_t)n;
	c->in[c->len] = 0;
}

static inline void client_drop(struct client *c, size_t n)
{
	memmove(c->in, c->in + n, c->len - n + 1);
	c->len -= n;
}

/* Up to and with `end`, as text; NULL when the connection ended before. */
static inline char *client_until(struct client *c, const char *end)
{
	char *at, *text;

	while (!c->in || !(at = strstr(c->in, end))) {
		if (c->ended)
			return NULL;
		client_more(c);
	}
	at += strlen(end);
	text = xstrndup(c->in, (size_t)(at - c->in));
	client_drop(c, (size_t)(at - c->in));
	return text;
}

static inline char *client_bytes(struct client *c, size_t n)
{
	char *text;

	while (c->len < n && !c->ended)
		client_more(c);
	if (c->len < n)
		return NULL;
	text = xstrndup(c->in ? c->in : "", n);
	if (n)
		client_drop(c, n);
	return text;
}

/* One chunk of a chunked answer; NULL at its end. */
static inline char *client_chunk(struct client *c)
{
	_cleanup_free_ char *size = client_until(c, "\r\n");
	size_t n = size ? strtoul(size, NULL, 16) : 0;
	char *data = n ? client_bytes(c, n) : NULL;

	if (size)
		free(client_until(c, "\r\n"));
	return data;
}

/* A header's status code, or 0 when the connection ended without one. The header is left in *ret. */
static inline int client_header(struct client *c, char **ret)
{
	*ret = client_until(c, "\r\n\r\n");
	return *ret ? atoi(*ret + strlen("HTTP/1.1 ")) : 0;
}

static inline void client_request(struct client *c, const char *method, const char *path,
				  const char *headers, const char *body)
{
	_cleanup_free_ char *text = NULL;

	if (body)
		text = xasprintf("%s %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %zu\r\n\r\n%s",
				 method, path, headers, strlen(body), body);
	else
		text = xasprintf("%s %s HTTP/1.1\r\nHost: x\r\n%s\r\n", method, path, headers);
	client_send(c, text, strlen(text));
}

/* The answer's code and body (NULL: none, or not JSON; the caller's). */
static inline int client_answer(struct client *c, json_t **ret)
{
	_cleanup_free_ char *header = NULL;
	_cleanup_free_ char *body = NULL;
	int code = client_header(c, &header);
	const char *length = header ? strstr(header, "Content-Length: ") : NULL;

	*ret = NULL;
	if (length)
		body = client_bytes(c, strtoul(length + strlen("Content-Length: "), NULL, 10));
	if (body)
		*ret = json_loads(body, 0, NULL);
	return code;
}

/* One request on a connection of its own. */
static inline int api_call(struct api *a, const char *method, const char *path, const char *body,
			   json_t **ret)
{
	struct client *c = client_open(a);
	int code;

	client_request(c, method, path, body ? "Content-Type: application/json\r\n" : "", body);
	code = client_answer(c, ret);
	client_close(c);
	return code;
}

/* The next line of a chunked answer (the caller's), however it is cut into chunks; NULL: the end. */
static inline char *client_line(struct client *c)
{
	char *end, *line;

	while (!c->lines || !(end = strchr(c->lines, '\n'))) {
		_cleanup_free_ char *before = c->lines;
		_cleanup_free_ char *chunk = client_chunk(c);

		c->lines = NULL;
		if (!chunk)
			return NULL;
		c->lines = xasprintf("%s%s", before ? before : "", chunk);
	}
	line = xstrndup(c->lines, (size_t)(end - c->lines));
	memmove(c->lines, end + 1, strlen(end + 1) + 1);
	return line;
}

/* The next event of a watch; the caller's. NULL: the stream has ended. */
static inline json_t *client_event(struct client *c)
{
	_cleanup_free_ char *line = client_line(c);
	json_t *event = line ? json_loads(line, 0, NULL) : NULL;

	if (line && !event)
		fail_msg("not an event: %s", line);
	return event;
}

#define VMIS "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances"
#define NADS "/apis/k8s.cni.cncf.io/v1/namespaces/default/network-attachment-definitions"

/* A VMI that admission accepts, with one label. */
static inline char *vmi_text(const char *name, const char *label)
{
	return xasprintf(
		"{\"apiVersion\": \"kubevirt.io/v1\", \"kind\": \"VirtualMachineInstance\", "
		"\"metadata\": {\"name\": \"%s\", \"labels\": {\"app\": \"%s\"}}, "
		"\"spec\": {\"domain\": {\"memory\": {\"guest\": \"128Mi\"}, \"devices\": "
		"{\"autoattachPodInterface\": false}}}}",
		name, label);
}

static inline char *nad_text(const char *name, unsigned mtu)
{
	return xasprintf(
		"{\"apiVersion\": \"k8s.cni.cncf.io/v1\", \"kind\": "
		"\"NetworkAttachmentDefinition\", \"metadata\": {\"name\": \"%s\"}, \"spec\": "
		"{\"config\": \"{\\\"cniVersion\\\": \\\"0.3.1\\\", \\\"name\\\": \\\"n\\\", "
		"\\\"type\\\": \\\"bridge\\\", \\\"bridge\\\": \\\"br-x\\\", \\\"mtu\\\": "
		"%u}\"}}",
		name, mtu);
}
