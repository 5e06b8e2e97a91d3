// SPDX-License-Identifier: Apache-2.0
/* Commands about one of a VM's subresources: inspect and verify, which show our own, console. */
#pragma once

#include "cmd/cli.h"
#include "cmd/client.h"

#include <jansson.h>

struct subresource {
	struct client *client; /* owned */
	const char *name;      /* the VM's, in argv */
	json_t *answer;	       /* owned */
};

void subresource_done(struct subresource *s);

/*
 * Print why a VM's subresource was refused: the handler's word is only that it does not run, its phase and
 * reason are the object's. The exit code.
 */
int subresource_refused(struct client *c, const char *ns, const char *name,
			const struct err *refusal);

/*
 * Read the command line "NAME" and get the VM's subresource `what`. -1: *ret is filled. Otherwise the exit
 * code: help was shown, or the error was.
 */
int subresource_get(struct cli *cli, const struct command *command, int argc, char **argv,
		    const char *what, struct subresource *ret);
