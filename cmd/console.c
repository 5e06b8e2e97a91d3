// SPDX-License-Identifier: Apache-2.0
#include "cmd/attach.h"
#include "cmd/follow.h"
#include "cmd/label.h"
#include "cmd/opts.h"
#include "cmd/signals.h"
#include "cmd/subresource.h"
#include "cmd/verdict.h"

#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <time.h>

#define WHY_US (5u * 1000000) /* the phase follows the console's end */

struct session {
	sd_event *event;
	enum attach_end why; /* it ended */
	bool interrupted;
};

static void on_end(void *arg, enum attach_end why)
{
	struct session *s = arg;

	s->why = why;
	(void)sd_event_exit(s->event, 0);
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *si, void *arg)
{
	struct session *s = arg;

	(void)source;
	(void)si;
	s->interrupted = true;
	return sd_event_exit(s->event, 0);
}

/* Why a console is over the object alone can say, and a moment later. */
struct ending {
	sd_event *event;
	json_t *vmi; /* as it was seen last, owned; NULL: it is not there */
	bool deleted;
};

static void on_vmi(void *arg, enum follow_what what, json_t *object, const struct err *err)
{
	struct ending *e = arg;
	struct verdict v;

	(void)err;
	if (object) {
		json_decref(e->vmi);
		e->vmi = json_incref(object);
	}
	verdict_of(e->vmi, &v);
	e->deleted = what == FOLLOW_DELETED || (what == FOLLOW_SYNCED && !e->vmi);
	if (e->deleted || v.state == VERDICT_ENDED || what == FOLLOW_FAILED)
		(void)sd_event_exit(e->event, 0);
}

static int on_late(sd_event_source *source, uint64_t usec, void *arg)
{
	struct ending *e = arg;

	(void)source;
	(void)usec;
	return sd_event_exit(e->event, 0);
}

static void say_why_over(struct client *c, const char *ns, const char *name, const char *label)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_free_ char *text = NULL;
	struct follow *follow = NULL;
	struct ending e = {0};
	struct verdict v;

	if (sd_event_new(&event) >= 0 &&
	    sd_event_add_time_relative(event, NULL, CLOCK_MONOTONIC, WHY_US, 1000, on_late, &e) >=
		    0) {
		e.event = event;
		if (follow_open(c, event, label_vmi(), ns, name, on_vmi, &e, &follow, NULL) == 0)
			(void)sd_event_loop(event);
	}
	verdict_of(e.vmi, &v);
	text = verdict_text(e.vmi);
	log_info("%s: %s", label,
		 v.state == VERDICT_ENDED ? v.message
		 : e.deleted		  ? "deleted"
		 : *text		  ? text
					  : "the console is over");
	follow_free(follow);
	json_decref(e.vmi);
}

static int follow_console(struct client *c, const char *ns, const char *name)
{
	_cleanup_free_ char *label = label_name(label_vmi(), ns, name);
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	struct attach *attach = NULL;
	struct session s = {0};
	struct err err = {0};

	if (signals_loop(&event, on_signal, &s, &err) < 0)
		return cli_fail(&err);
	s.event = event;
	if (attach_open(c, event, ns, name, /* pipe_stdin= */ true, on_end, &s, &attach, &err) < 0)
		return subresource_refused(c, ns, name, &err);
	(void)sd_event_loop(event);
	attach_free(attach); /* the terminal is as before: what is said now is read */
	if (s.interrupted)
		return EXIT_DONE;
	if (s.why == ATTACH_LEFT)
		log_info("left the console; the VM runs on");
	else if (s.why == ATTACH_CLOSED)
		say_why_over(c, ns, name, label);
	else if (s.why == ATTACH_CUT)
		log_error("%s: the console's connection is gone: virt-handler has ended; the VM "
			  "runs on",
			  label);
	return s.why == ATTACH_CUT ? EXIT_FAILED : EXIT_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
	_cleanup_client_ struct client *client = NULL;
	struct target t = {0};
	struct err err = {0};
	int code, at = opts_parse(cli, command_console.usage, NULL, 0, false, argc, argv, &code);

	if (at < 0)
		return code;
	if (label_one_vmi(argc - at, argv + at, &t, &err) < 0) {
		(void)cli_fail(&err);
		return EXIT_USAGE;
	}
	if (client_open(cli, &client, &err) < 0)
		return cli_fail(&err);
	return follow_console(client, cli_namespace(cli), t.name);
}

const struct command command_console = {
	"console",
	"the serial console of a running VM",
	"usage: virtpod console NAME\n"
	"\n"
	"The console's memory first, then what the guest says. On a terminal every key goes to "
	"the\n"
	"guest, Ctrl-] leaves. Otherwise stdin is passed on as it is. Why it ended is said on "
	"stderr.\n",
	run,
};
