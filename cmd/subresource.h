// SPDX-License-Identifier: Apache-2.0
/* Commands that show one of our own subresources of a VM: inspect, verify. */
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
 * Read the command line "NAME" and get the VM's subresource `what`. -1: *ret is filled. Otherwise the exit
 * code: help was shown, or the error was.
 */
int subresource_get(struct cli *cli, const struct command *command, int argc, char **argv,
		    const char *what, struct subresource *ret);
