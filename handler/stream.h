// SPDX-License-Identifier: Apache-2.0
/* Watches over HTTP: one answer without end, a line per event. */
#pragma once

#include "handler/call.h"
#include "handler/server_internal.h"

enum MHD_Result stream_request(struct request *r, const struct call *c);

/* End them all; libmicrohttpd must run once afterwards. */
void stream_close_all(struct server *s);
