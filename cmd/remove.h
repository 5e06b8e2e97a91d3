// SPDX-License-Identifier: Apache-2.0
/* Deleting objects over the API, and waiting until they are gone. */
#pragma once

#include "cmd/client.h"

#include "api/kind.h"

#define GRACE_OF_VM (-1L) /* the grace period that the VM itself says */

/* Ask for it; *ret_uid (the caller's) is who was asked. -ENOENT when absent. */
int remove_ask(struct client *c, const struct kind *k, const char *ns, const char *name,
	       long grace_seconds, char **ret_uid, struct err *err);

/* An object that is to go. */
struct removal {
	const struct kind *kind;
	const char *ns, *name; /* borrowed */
	char *uid;	       /* owned by who fills it; of who was asked */
};

/* One of the list has gone. */
typedef void (*remove_gone_fn)(void *arg, const struct removal *which);

/*
 * Wait until of none of them an object of that name has its uid. That guests shut down is said on stderr
 * after a moment. on_gone may be NULL.
 */
int remove_wait_all(struct client *c, const struct removal *list, size_t n, remove_gone_fn on_gone,
		    void *arg, struct err *err);

/* The same of one. */
int remove_wait(struct client *c, const struct kind *k, const char *ns, const char *name,
		const char *uid, struct err *err);
