// SPDX-License-Identifier: Apache-2.0
/* Answers without a length: watches, a line per event, and whatever else comes bit by bit. */
#pragma once

#include "handler/call.h"
#include "handler/server_internal.h"

#include <sys/types.h>

/* Where the bytes come from. */
struct stream_ops {
	/* bytes put into buf; 0: nothing for now, stream_wake will be called; negative: it is over */
	ssize_t (*read)(void *source, char *buf, size_t size);
	bool (*ended)(void *source); /* nothing more comes; what is there may be read still */
	void (*end)(void *source);
	void (*free)(void *source);
};

struct stream;

/* ops are borrowed. */
struct stream *stream_new(struct request *r, const struct stream_ops *ops, void *source_consume);
void stream_free(struct stream *st);
void stream_wake(struct stream *st);

/* Answer with it. timeout_seconds 0: without end. */
enum MHD_Result stream_start(struct stream *st_consume, struct request *r, const char *type,
			     uint64_t timeout_seconds);

/* A watch. */
enum MHD_Result stream_request(struct request *r, const struct call *c);

/* End them all; libmicrohttpd must run once afterwards. */
void stream_close_all(struct server *s);
