// SPDX-License-Identifier: Apache-2.0
/*
 * A VM's serial console as a WebSocket (KubeVirt's plain.kubevirt.io: binary frames, no framing of
 * their own). The launcher attaches the other end of a socketpair first; only then is the request
 * upgraded, so that a refusal is an ordinary Status.
 */
#pragma once

#include "handler/call.h"
#include "handler/server_internal.h"

enum MHD_Result console_request(struct request *r, const struct call *c);

/* The same request again, after the launcher's answer. */
enum MHD_Result console_answered(struct request *r);

/* Out of the server's list, every descriptor of its own closed. */
void console_free(struct console *c);

/* End them all; libmicrohttpd must run once afterwards. */
void console_close_all(struct server *s);
