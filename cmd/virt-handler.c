// SPDX-License-Identifier: Apache-2.0
/* virt-handler: the node agent. Options, signals, one loop. */
#include "handler/caps.h"
#include "handler/handler.h"
#include "handler/idle.h"

#include "lib/err.h"
#include "lib/log.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

struct options {
	const char *root;
	bool on_demand, cleanup, force;
	enum log_level level;
};

static const char usage[] =
	"usage: virt-handler [--root DIR] [--on-demand] [-v]\n"
	"       virt-handler [--root DIR] --cleanup [--force] [-v]\n"
	"\n"
	"virtpod's node agent: keeps the VMs of this host, serves the API on run/handler.sock.\n"
	"\n"
	"  --root DIR   keep everything below DIR instead of /var/lib/virtpod and /run/virtpod\n"
	"  --on-demand  end after a few seconds without VM and client (how virtpod starts it)\n"
	"  --cleanup    serve nothing: remove what a crash left of a root that no handler serves\n"
	"  --force      with --cleanup: kill VMs that still run\n"
	"  -v           log debug messages, too\n"
	"  --version    print the version\n";

/* 0: go on; otherwise the process' exit status plus one. */
static int parse(int argc, char **argv, struct options *ret)
{
	static const struct option longs[] = {
		{"root", required_argument, NULL, 'r'},
		{"on-demand", no_argument, NULL, 'd'},
		{"cleanup", no_argument, NULL, 'c'},
		{"force", no_argument, NULL, 'f'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int c;

	*ret = (struct options){.level = LOG_LEVEL_INFO};
	while ((c = getopt_long(argc, argv, "vh", longs, NULL)) != -1) {
		switch (c) {
		case 'r':
			ret->root = optarg;
			break;
		case 'd':
			ret->on_demand = true;
			break;
		case 'c':
			ret->cleanup = true;
			break;
		case 'f':
			ret->force = true;
			break;
		case 'v':
			ret->level = LOG_LEVEL_DEBUG;
			break;
		case 'V':
			puts("virt-handler " VIRTPOD_VERSION);
			return 1;
		case 'h':
			fputs(usage, stdout);
			return 1;
		default:
			fputs(usage, stderr);
			return 3;
		}
	}
	if (optind < argc)
		fprintf(stderr, "virt-handler: unexpected argument '%s'\n%s", argv[optind], usage);
	else if ((ret->force && !ret->cleanup) || (ret->cleanup && ret->on_demand))
		fputs(usage, stderr);
	else
		return 0;
	return 3;
}

/* SIGTERM and SIGINT end the loop; the VMs stay. Blocked first: sd-event reads them by signalfd. */
static int take_signals(sd_event *event, struct err *err)
{
	sigset_t set;
	int r;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return err_errno(err, -errno, "signals");
	r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGINT, NULL, NULL);
	return r < 0 ? err_errno(err, r, "signals") : 0;
}

static int serve(const struct options *options, struct err *err)
{
	struct handler h;
	int r;

	if (options->on_demand)
		idle_leave_cgroups();
	r = caps_cut(err);
	if (r < 0)
		return r;
	r = handler_open(options->root, &h, err);
	if (r == 0)
		r = take_signals(h.event, err);
	if (r == 0 && options->on_demand)
		r = idle_watch(&h, err);
	if (r == 0) {
		log_info("version " VIRTPOD_VERSION ", node %s, serving %s/handler.sock", h.node,
			 h.paths.run);
		(void)sd_notify(/* unset_environment= */ 1,
				"READY=1"); /* nobody may be listening */
		r = sd_event_loop(h.event);
		if (r < 0)
			(void)err_errno(err, r, "event loop");
	}
	handler_close(&h);
	return r;
}

static int clean(const struct options *options, struct err *err)
{
	int r = caps_cut(err);

	return r < 0 ? r : handler_clean(options->root, options->force, err);
}

int main(int argc, char **argv)
{
	struct options options;
	struct err err = {0};
	int r = parse(argc, argv, &options);

	if (r)
		return r - 1;
	log_open("virt-handler", options.level);
	if (!options.cleanup)
		log_with_times();
	if (geteuid() != 0) {
		log_error("must be started by root: it makes namespaces, cgroups and links");
		return 4;
	}
	r = options.cleanup ? clean(&options, &err) : serve(&options, &err);
	if (r >= 0)
		return 0;
	log_error("%s", err.msg);
	return options.cleanup && err.code == -EBUSY ? 3 : 1;
}
