// SPDX-License-Identifier: Apache-2.0
#include "handler/podconsole.h"

#include "handler/channel.h"
#include "handler/pod.h"

#include "lib/util.h"

#include <errno.h>

#define CONSOLE_TIMEOUT 10

struct console_request {
	void (*done)(void *arg, int r, const struct err *err);
	void *arg;
};

static void on_reply(void *arg, int r, const json_t *reply, const struct err *err)
{
	struct console_request q = *(struct console_request *)arg;

	(void)reply;
	free(arg);
	/* the launcher refuses for one reason: somebody has it */
	q.done(q.arg, r == -EREMOTEIO ? -EBUSY : r, err);
}

int pod_console(struct handler *h, const char *ns, const char *name, int client_fd_consume,
		void (*done)(void *arg, int r, const struct err *err), void *arg, struct err *err)
{
	_cleanup_fd_ int client = client_fd_consume;
	struct pod *pod = pod_find_running(h, ns, name);
	struct console_request *q;
	int r;

	if (!pod)
		return err_set(err, -ENOENT, "VirtualMachineInstance \"%s\" is not running", name);
	if (!pod->plan->serial_console)
		return err_set(err, -ENOENT,
			       "VirtualMachineInstance \"%s\" has no serial console "
			       "(autoattachSerialConsole: false)",
			       name);
	q = xcalloc(1, sizeof *q);
	*q = (struct console_request){.done = done, .arg = arg};
	r = channel_request(pod->channel, "console", json_pack("{s:[s]}", "fds", "client"), &client,
			    1, CONSOLE_TIMEOUT, on_reply, q, err);
	if (r < 0)
		free(q);
	return r;
}
