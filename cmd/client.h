// SPDX-License-Identifier: Apache-2.0
/*
 * The handler's API over its Unix socket: one request, one answer. A handler that is not there is
 * started (cmd/autostart.h), also between two requests: one that idled may have ended.
 */
#pragma once

#include "cmd/cli.h"
#include "lib/err.h"

#include <curl/curl.h>
#include <jansson.h>

struct client;

/* Finds the directories, sees to it that a handler answers, and says when its version is not ours. */
int client_open(const struct cli *cli, struct client **ret, struct err *err);
void client_free(struct client *c); /* NULL is fine */

static inline void client_freep(struct client **c)
{
	client_free(*c);
}
#define _cleanup_client_ __attribute__((cleanup(client_freep)))

/*
 * body may be NULL. 2xx: *ret (may be NULL) is the answer, the caller's. A Status of failure becomes
 * its message, with the causes: -ENOENT 404, -EEXIST already there, -EBUSY conflict and forbidden,
 * -EINVAL 400 and 422, -EACCES 401, else -EIO. No handler: -ENOTCONN. A GET that a handler was killed
 * over is asked again.
 */
int client_call(struct client *c, const char *method, const char *path, const json_t *body,
		json_t **ret, struct err *err);

/* A failure's Status (any JSON, or NULL) with its HTTP code, as client_call reports it. */
int client_status_error(long code, const json_t *status, struct err *err);

/* A handler, started anew if need be; for streams that were cut. */
int client_reach(struct client *c, struct err *err);

/* Give a handle of curl's the socket and the URL of `path`; for streams. */
void client_aim(const struct client *c, CURL *curl, const char *path);

int client_run_fd(const struct client *c); /* borrowed; handler.sock is in it */
