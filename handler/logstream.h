// SPDX-License-Identifier: Apache-2.0
/* A VMI's log over HTTP, as the kubelet gives a container's: container, follow, tailLines; text/plain. */
#pragma once

#include "handler/call.h"
#include "handler/server_internal.h"

enum MHD_Result logstream_request(struct request *r, const struct call *c);

/* The pod of that uid ends: whoever follows its logs reads what is left, and is done. */
void logstreams_end(struct handler *h, const char *uid);
