// SPDX-License-Identifier: Apache-2.0
#include "launcher/ending.h"

#include "lib/util.h"

#include <signal.h>
#include <string.h>

void ending_note_event(struct ending *e, const char *event, const char *text)
{
	if (str_eq(event, "SHUTDOWN"))
		(void)snprintf(e->reason, sizeof e->reason, "%s", text ? text : "");
	else if (str_eq(event, "GUEST_PANICKED"))
		e->panicked = true;
	else if (str_eq(event, "WATCHDOG"))
		e->watchdog = str_eq(text, "poweroff") || str_eq(text, "shutdown");
	else if (str_eq(event, "RESET"))
		e->panicked = e->watchdog = false; /* it came back */
}

static void set(struct outcome *o, enum outcome_kind kind, const char *message, const char *more)
{
	o->kind = kind;
	(void)snprintf(o->message, sizeof o->message, "%.250s%s%.250s", message, *more ? ": " : "",
		       more);
}

static void by_signal(const struct ending *e, struct outcome *o)
{
	char text[64];

	if (e->sent == SIGKILL && e->status == SIGKILL) {
		set(o, OUTCOME_KILLED, "QEMU was killed, as asked", "");
		return;
	}
	(void)snprintf(text, sizeof text, "QEMU died of signal %d (%s)", e->status,
		       strsignal(e->status));
	/* SIGKILL from elsewhere is most often the kernel's, for memory */
	set(o, OUTCOME_CRASHED, text,
	    e->status == SIGKILL ? "killed from outside, or out of memory" : e->words);
}

static void by_exit(const struct ending *e, struct outcome *o)
{
	char text[64];

	if (e->status != 0) {
		(void)snprintf(text, sizeof text, "QEMU gave up with exit status %d", e->status);
		set(o, OUTCOME_QEMU_FAILED, text, e->words);
	} else if (e->panicked || str_eq(e->reason, "guest-panic")) {
		set(o, OUTCOME_CRASHED, "the guest panicked", "");
	} else if (e->watchdog) {
		set(o, OUTCOME_WATCHDOG, "the guest's watchdog fired", "");
	} else if (str_eq(e->reason, "guest-shutdown")) {
		set(o, OUTCOME_SHUTDOWN,
		    e->asked ? "the guest shut down, as asked" : "the guest shut itself down", "");
	} else if (e->sent) {
		set(o, OUTCOME_KILLED, "QEMU was ended before the guest had shut down", "");
	} else {
		set(o, OUTCOME_KILLED, "QEMU was ended from outside", e->reason);
	}
}

static void not_started(const struct ending *e, struct outcome *o)
{
	char text[80];

	if (e->killed_by_sig)
		(void)snprintf(text, sizeof text, "QEMU did not start: it died of signal %d (%s)",
			       e->status, strsignal(e->status));
	else
		(void)snprintf(text, sizeof text, "QEMU did not start: it ended with status %d",
			       e->status);
	set(o, OUTCOME_QEMU_FAILED, e->words[0] ? "QEMU did not start" : text, e->words);
}

void ending_classify(const struct ending *e, struct outcome *ret)
{
	*ret = (struct outcome){.exit_status = e->killed_by_sig ? -e->status : e->status};
	if (e->failure[0])
		set(ret, OUTCOME_QEMU_FAILED, e->failure, e->words);
	else if (!e->started && !e->sent)
		not_started(e, ret);
	else if (e->killed_by_sig)
		by_signal(e, ret);
	else
		by_exit(e, ret);
}
