// SPDX-License-Identifier: Apache-2.0
#include "cmd/client.h"
#include "cmd/follow.h"
#include "cmd/forwhat.h"
#include "cmd/label.h"
#include "cmd/opts.h"
#include "cmd/verdict.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define WAIT_SECONDS 30 /* kubectl's default */

struct waiting {
	sd_event *event;
	struct for_what what;
	const char *label;
	json_t *object; /* as it was seen last, owned; NULL: not there */
	bool met;
	int code;
};

/* Its phase with the reason, or, when nothing is in the way of that, the condition's own. */
static char *how_it_is(const struct waiting *w)
{
	const json_t *c = for_what_condition(&w->what, w->object);
	const char *reason = json_str(c, "reason"), *message = json_str(c, "message");
	_cleanup_free_ char *text = verdict_text(w->object);

	if (strchr(text, ':') || !c)
		return TAKE_PTR(text);
	return xasprintf("%s%s%s is %s%s%s%s%s", text, *text ? ", " : "", json_str(c, "type"),
			 json_str(c, "status"), reason && *reason ? ": " : "", reason ? reason : "",
			 message && *message ? ": " : "", message ? message : "");
}

static void check(struct waiting *w, json_t *object)
{
	_cleanup_free_ char *how = NULL;

	json_decref(w->object);
	w->object = json_incref(object);
	w->met = for_what_met(&w->what, object);
	if (w->met) {
		printf("%s %s\n", w->label, object ? "condition met" : "deleted");
	} else if (object && !for_what_can_come(&w->what, object)) {
		how = how_it_is(w);
		log_error("%s: %s will not come: %s", w->label, w->what.text, how);
		w->code = EXIT_FAILED;
	} else {
		return;
	}
	(void)sd_event_exit(w->event, 0);
}

static void on_change(void *arg, enum follow_what what, json_t *object, const struct err *err)
{
	struct waiting *w = arg;

	if (w->met || w->code)
		return;
	switch (what) {
	case FOLLOW_LISTED:
	case FOLLOW_CHANGED:
		check(w, object);
		break;
	case FOLLOW_SYNCED:
		/* what is not there may come yet: who waits after starting a run can't know */
		if (!w->object)
			check(w, NULL);
		break;
	case FOLLOW_DELETED:
		check(w, NULL);
		break;
	case FOLLOW_FAILED:
		w->code = cli_fail(err);
		(void)sd_event_exit(w->event, 0);
		break;
	}
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *arg)
{
	struct waiting *w = arg;
	_cleanup_free_ char *how = w->object ? how_it_is(w) : xstrdup("it is not there");

	(void)source;
	(void)usec;
	log_error("%s: timed out waiting for %s%s%s", w->label, w->what.text, *how ? "; " : "",
		  how);
	w->code = EXIT_FAILED;
	return sd_event_exit(w->event, 0);
}

static int wait_for(struct client *c, struct waiting *w, const struct target *t, const char *ns,
		    long seconds)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_follow_ struct follow *follow = NULL;
	struct err err = {0};
	int r = sd_event_new(&event);

	w->event = event;
	if (r >= 0 && seconds >= 0)
		r = sd_event_add_time_relative(event, NULL, CLOCK_MONOTONIC,
					       (uint64_t)seconds * 1000000, 1000, on_timeout, w);
	if (r < 0)
		return cli_fail(&(struct err){r, "event loop"});
	r = follow_open(c, event, t->kind, ns, t->name, on_change, w, &follow, &err);
	if (r < 0)
		return cli_fail(&err);
	(void)sd_event_loop(event);
	return w->code;
}

static int each_target(struct cli *cli, const struct for_what *what, long seconds, int argc,
		       char **argv)
{
	_cleanup_client_ struct client *client = NULL;
	struct err err = {0};
	struct target t = {0};
	int code = EXIT_DONE;

	if (client_open(cli, &client, &err) < 0)
		return cli_fail(&err);
	for (int i = 0; label_target(argc, argv, NULL, i, &t, NULL) > 0; i++) {
		_cleanup_free_ char *label = label_name(t.kind, cli_namespace(cli), t.name);
		struct waiting w = {.what = *what, .label = label};
		int one = wait_for(client, &w, &t, cli_namespace(cli), seconds);

		json_decref(w.object);
		code = one ? one : code;
	}
	return code;
}

static int run(struct cli *cli, int argc, char **argv)
{
	const char *text = NULL;
	long seconds = WAIT_SECONDS;
	struct for_what what = {0};
	const struct opt own[] = {{"for", 0, OPT_TEXT, &text}, {"timeout", 0, OPT_TIME, &seconds}};
	struct err err = {0};
	int code, at = opts_parse(cli, command_wait.usage, own, ARRAY_SIZE(own), false, argc, argv,
				  &code);
	_cleanup_free_ char *me = cli_me(NULL);

	if (at < 0)
		return code;
	if (at == argc || !text) {
		log_error("wait: say %s wait KIND/NAME --for=condition=Ready, =delete or "
			  "=jsonpath={.status.phase}=Running",
			  me);
		return EXIT_USAGE;
	}
	if (label_check(argc - at, argv + at, NULL, /* need_name= */ true, &err) < 0 ||
	    for_what_parse(text, &what, &err) < 0) {
		(void)cli_fail(&err);
		return EXIT_USAGE;
	}
	code = each_target(cli, &what, seconds, argc - at, argv + at);
	for_what_done(&what);
	return code;
}

const struct command command_wait = {
	"wait",
	"until a condition holds, a field has a value, or an object is gone",
	"usage: virtpod wait KIND/NAME… --for=WHAT [--timeout=30s]\n"
	"\n"
	"  --for=condition=Ready[=False]               a condition's status\n"
	"  --for=jsonpath={.status.phase}=Running      a field's value\n"
	"  --for=delete                                no such object\n"
	"  --timeout=TIME                              90s, 5m, 1h; -1 waits without end\n"
	"\n"
	"What is not there yet is waited for, too. A VMI that has ended is not waited for: what "
	"can't\n"
	"come any more fails at once.\n",
	run,
};
