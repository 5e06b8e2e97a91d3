// SPDX-License-Identifier: Apache-2.0
/* One object of a manifest to the handler. */
#pragma once

#include "cmd/client.h"
#include "cmd/manifest.h"

enum applied { APPLIED_CREATED, APPLIED_CONFIGURED, APPLIED_UNCHANGED };

/* *ret is the object as stored, the caller's. -EEXIST when it is there. */
int apply_create(struct client *c, const struct manifest_item *item, json_t **ret, struct err *err);

/* Create it, or make the one that is there say the same. */
int apply_item(struct client *c, const struct manifest_item *item, enum applied *ret_what,
	       json_t **ret, struct err *err);

/* Is the object that is there what the manifest asks for: labels and annotations, too, but no status? */
bool apply_same(const json_t *there, const json_t *admitted);

/* The exit code of a command that manifest_load failed for: 3 when what is written is wrong, else 1. */
int manifest_exit(int r);
