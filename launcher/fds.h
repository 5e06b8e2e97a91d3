// SPDX-License-Identifier: Apache-2.0
/*
 * The descriptors of one request under the names that the request gives them. They are owned here
 * until taken; whoever finds one borrows it.
 */
#pragma once

#include "launcher/argv.h"
#include "lib/sock.h"

#include <jansson.h>

struct named_fds {
	const char *name[SOCK_MAX_FDS]; /* borrowed from the request */
	int fd[SOCK_MAX_FDS];
	bool used[SOCK_MAX_FDS];
	size_t n;
};

/* Pair up "fds" of the request with what came along; eats all of fds[n], also on failure. */
int named_fds_init(struct named_fds *m, const json_t *request, const int *fds, size_t n,
		   struct err *err);
void named_fds_done(struct named_fds *m);
#define _cleanup_named_fds_ _cleanup_(named_fds_done)

/* -1: no such name. */
int named_fds_find(struct named_fds *m, const char *name);
int named_fds_take(struct named_fds *m, const char *name);

/* -EINVAL if the request brought a descriptor that nobody asked for. */
int named_fds_check_used(const struct named_fds *m, struct err *err);

/* Find all that the plan's machine needs ("disk:NAME", "tap:NIC:QUEUE", …); ret borrows. */
void named_fds_for_plan(struct named_fds *m, const struct plan *p, struct argv_fds *ret);
