// SPDX-License-Identifier: Apache-2.0
/*
 * What server.c (HTTP), reply.c, stream.c (watches) and console.c (WebSocket) share. A request lives
 * from its first header line to the end of its answer; a console goes on living after it.
 */
#pragma once

#include "handler/server.h"

#include <microhttpd.h>
#include <stddef.h>

#define SERVER_CONNECTION_MEMORY (64 * 1024) /* of each connection; bounds the header, too */

struct console;
struct report;
struct stream;

/* What differs between a test and the real thing. */
struct server_options {
	unsigned timeout_seconds; /* of a client that neither sends nor reads */
	unsigned connections;	  /* at most; more of them wait to be accepted */
	int (*console)(struct handler *h, const char *ns, const char *name, int client_fd_consume,
		       void (*done)(void *arg, int r, const struct err *err), void *arg,
		       struct err *err);
	/* Ask QEMU for what inspect shows of it; done is called once, later, unless this is negative. */
	int (*refresh)(struct handler *h, const char *ns, const char *name, void (*done)(void *arg),
		       void *arg);
	int (*inspect)(struct handler *h, const char *ns, const char *name, json_t **ret,
		       struct err *err);
	int (*verify)(struct handler *h, const char *ns, const char *name, json_t **ret,
		      struct err *err);
};

struct server {
	struct handler *h; /* borrowed */
	struct server_options options;
	struct MHD_Daemon *daemon;
	sd_event_source *io;	/* libmicrohttpd's epoll descriptor */
	sd_event_source *timer; /* when libmicrohttpd wants to run at the latest */
	struct stream *streams;
	struct console *consoles;
	struct report *reports;	   /* requests that wait for QEMU's answer */
	sd_event_source *vm_timer; /* when the next VirtualMachine may be started again (vms.c) */
	bool closing;
	uint64_t node_version; /* resourceVersion of the virtual Node */
};

struct request {
	struct server *s;
	struct MHD_Connection *connection;
	char *body;
	size_t len, size;
	bool too_big;		 /* the body; the rest of it is read and dropped */
	struct console *console; /* while it waits for the launcher; borrowed */
	struct report *report;	 /* the same for inspect and verify */
	bool asked;		 /* QEMU has been */
};

/* As server_open, which calls it with the real options. */
int server_open_with(struct handler *h, const struct server_options *options, struct err *err);

/* Let libmicrohttpd run from the loop: something outside of it has changed. */
void server_wake(struct server *s);

/* Queue an answer. object: consumed; NULL: no body. */
enum MHD_Result reply_json(struct request *r, unsigned code, json_t *object_consume);
enum MHD_Result reply_text(struct request *r, unsigned code, const char *text);

const char *request_query(const struct request *r, const char *name); /* NULL when absent */
const char *request_header(const struct request *r, const char *name);
