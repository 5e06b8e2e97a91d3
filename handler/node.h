// SPDX-License-Identifier: Apache-2.0
/* This host as a Kubernetes Node: made anew from the handler's context whenever somebody asks. */
#pragma once

#include "handler/handler.h"

#define NODE_KEY "nodes"

json_t *node_object(struct handler *h); /* the caller's */

/* Tell the watchers that it may have changed: the configuration did. */
void node_publish(struct handler *h);
