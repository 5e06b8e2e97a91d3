// SPDX-License-Identifier: Apache-2.0
/* Deleting one object over the API, and waiting until it is gone. */
#pragma once

#include "cmd/client.h"

#include "api/kind.h"

#define GRACE_OF_VM (-1L) /* the grace period that the VM itself says */

/* Ask for it; *ret_uid (the caller's) is who was asked. -ENOENT when absent. */
int remove_ask(struct client *c, const struct kind *k, const char *ns, const char *name,
	       long grace_seconds, char **ret_uid, struct err *err);

/* Wait until no object of that name has this uid. */
int remove_wait(struct client *c, const struct kind *k, const char *ns, const char *name,
		const char *uid, struct err *err);
