// SPDX-License-Identifier: Apache-2.0
/* The API with the functions it calls in a handler; tests put others in their place. */
#include "handler/server_internal.h"

#include "handler/inspect.h"
#include "handler/podconsole.h"
#include "handler/podrefresh.h"

#define CONNECTIONS_MAX 256
#define TIMEOUT_SECONDS 30

int server_open(struct handler *h, struct err *err)
{
	static const struct server_options real = {
		.timeout_seconds = TIMEOUT_SECONDS,
		.connections = CONNECTIONS_MAX,
		.console = pod_console,
		.refresh = pod_refresh,
		.inspect = inspect_vmi,
		.verify = verify_vmi,
	};

	return server_open_with(h, &real, err);
}
