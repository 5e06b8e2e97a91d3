// SPDX-License-Identifier: Apache-2.0
#include "cmd/attach.h"
#include "cmd/label.h"
#include "cmd/opts.h"
#include "cmd/signals.h"

#include "lib/log.h"
#include "lib/util.h"

struct session {
	sd_event *event;
	int code;
};

static void on_end(void *arg, enum attach_end why)
{
	struct session *s = arg;

	if (why == ATTACH_CUT) {
		log_error("the console's connection is gone: the VM or its handler has ended");
		s->code = EXIT_FAILED;
	}
	(void)sd_event_exit(s->event, 0);
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *si, void *arg)
{
	struct session *s = arg;

	(void)source;
	(void)si;
	return sd_event_exit(s->event, 0);
}

static int follow_console(struct client *c, const char *ns, const char *name)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	struct attach *attach = NULL;
	struct session s = {0};
	struct err err = {0};

	if (signals_loop(&event, on_signal, &s, &err) < 0)
		return cli_fail(&err);
	s.event = event;
	if (attach_open(c, event, ns, name, /* pipe_stdin= */ true, on_end, &s, &attach, &err) < 0)
		return cli_fail(&err);
	(void)sd_event_loop(event);
	attach_free(attach);
	return s.code;
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
	"guest, Ctrl-] leaves. Otherwise stdin is passed on as it is.\n",
	run,
};
