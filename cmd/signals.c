// SPDX-License-Identifier: Apache-2.0
#include "cmd/signals.h"

#include "lib/util.h"

#include <errno.h>
#include <signal.h>

int signals_loop(sd_event **ret_event, sd_event_signal_handler_t fn, void *arg, struct err *err)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	sigset_t set;
	int r;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(caught); i++)
		(void)sigaddset(&set, caught[i]);
	r = sigprocmask(SIG_BLOCK, &set, NULL) < 0 ? -errno : sd_event_new(&event);
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(caught); i++)
		r = sd_event_add_signal(event, NULL, caught[i], fn, arg);
	if (r < 0)
		return err_errno(err, r, "event loop");
	*ret_event = TAKE_PTR(event);
	return 0;
}
