// SPDX-License-Identifier: Apache-2.0
#include "cmd/signals.h"

#include "lib/util.h"

#include <errno.h>
#include <signal.h>

#define ECHO_US 500000u

bool signals_counts(uint64_t *last_us, uint64_t now_us)
{
	if (*last_us && now_us - *last_us < ECHO_US)
		return false;
	*last_us = now_us;
	return true;
}

int signals_loop(sd_event **ret_event, sd_event_signal_handler_t fn, void *arg, struct err *err)
{
	static const int wanted[] = {SIGINT, SIGTERM, SIGHUP};
	int caught[ARRAY_SIZE(wanted)];
	size_t n = 0;
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	sigset_t set;
	int r;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct sigaction now;

		/* nohup and shells' background jobs ignore some: blocked, they would be heard again */
		if (sigaction(wanted[i], NULL, &now) == 0 && now.sa_handler == SIG_IGN)
			continue;
		(void)sigaddset(&set, wanted[i]);
		caught[n++] = wanted[i];
	}
	r = sigprocmask(SIG_BLOCK, &set, NULL) < 0 ? -errno : sd_event_new(&event);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = sd_event_add_signal(event, NULL, caught[i], fn, arg);
	if (r < 0)
		return err_errno(err, r, "event loop");
	*ret_event = TAKE_PTR(event);
	return 0;
}
