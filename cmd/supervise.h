// SPDX-License-Identifier: Apache-2.0
/* The waiting part of `virtpod run`: VMs that were just created, until each has ended. */
#pragma once

#include "cmd/client.h"
#include "cmd/manifest.h"

struct supervised {
	const struct manifest_item *item; /* a VMI or VM */
	char *uid;			  /* owned; of the object that was created */
};

struct supervise_options {
	bool console; /* of the one VM */
	bool quiet;
};

/*
 * Follow them; SIGINT or SIGTERM asks the guests to shut down, again kills (at once it is an echo). The exit code: 0 when all
 * were shut down or deleted on request, else that of the first that was not.
 */
int supervise(struct client *c, const struct supervised *vms, size_t n,
	      const struct supervise_options *options);
