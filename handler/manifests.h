// SPDX-License-Identifier: Apache-2.0
/*
 * Static manifests, as a kubelet has static pods: what the files of one folder say is to be. A file counts
 * as a whole: with one error in it, or one object that is refused, nothing of it is applied, and what an
 * earlier version of it made stays. Objects made here carry virtpod.io/manifest (the file) and
 * virtpod.io/manifest-hash (of the object as it was written); others are never touched. Level-triggered: an object that somebody deletes is made again.
 */
#pragma once

#include "handler/handler.h"

#include <jansson.h>

/* Read the folder, which need not be there, and follow it. What is wrong there keeps nobody from serving. */
void manifests_open(struct handler *h);
void manifests_close(struct handler *h);

/* Compare objects with the files; called by each reconcile round, before all else. */
void manifests_reconcile(struct handler *h);

/* A condition of the Node, "virtpod.io/Manifests"; NULL while there is no such folder. The caller's. */
json_t *manifests_condition(const struct handler *h);
