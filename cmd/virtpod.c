// SPDX-License-Identifier: Apache-2.0
/* virtpod: the command line. Global options, the table of commands, one call each. */
#include "cmd/cli.h"
#include "cmd/opts.h"

#include "lib/log.h"
#include "lib/util.h"

#include <signal.h>
#include <stdio.h>

/* in the order in which people meet them */
static const struct command *const commands[] = {
	&command_run,	 &command_apply,   &command_create, &command_get,     &command_describe,
	&command_delete, &command_console, &command_logs,   &command_inspect, &command_verify,
	&command_wait,	 &command_render,  &command_doctor, &command_cleanup, &command_bench,
};

static const char usage[] =
	"usage: virtpod [OPTIONS] COMMAND …\n"
	"\n"
	"KubeVirt's virtual machines on one Linux host, without Kubernetes.\n"
	"\n"
	"options, before or after the command:\n"
	"  --root DIR           keep all below DIR instead of /var/lib/virtpod and /run/virtpod\n"
	"  -n, --namespace NS   where names are looked up, and objects without one go (default)\n"
	"  -o, --output FORM    json, yaml, name, wide or table\n"
	"  -v, --verbose        say more\n"
	"  --version            print the version\n"
	"\n"
	"commands (virtpod COMMAND --help says more):\n";

static int help(FILE *to)
{
	(void)fputs(usage, to);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		(void)fprintf(to, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
	(void)fputs("  help      this text; with a command, what it takes\n"
		    "  version   the version\n",
		    to);
	(void)fputs(
		"\nexit codes: 0 done; 1 it failed, or a promise is broken; 2 usage; 3 refused;\n"
		"4 no virt-handler or no permission\n",
		to);
	return to == stdout ? EXIT_DONE : EXIT_USAGE;
}

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (str_eq(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int help_for(const char *name)
{
	const struct command *c = name ? command_find(name) : NULL;

	if (!name)
		return help(stdout);
	if (!c) {
		log_error("no command '%s'; virtpod help lists them", name);
		return EXIT_USAGE;
	}
	(void)fputs(c->usage, stdout);
	return EXIT_DONE;
}

int main(int argc, char **argv)
{
	struct cli cli = {0};
	bool version = false;
	const struct opt own[] = {{"version", 0, OPT_FLAG, &version}};
	const struct command *c;
	int at, code = EXIT_USAGE;

	log_open("virtpod", LOG_LEVEL_INFO);
	/* a reader that goes away is seen where stdout is written */
	(void)signal(SIGPIPE, SIG_IGN);
	at = opts_parse(&cli, "", own, ARRAY_SIZE(own), /* first_word_ends= */ true, argc, argv,
			&code);
	if (at < 0)
		return code == EXIT_DONE ? help(stdout) : code;
	if (version || (at < argc && str_eq(argv[at], "version"))) {
		(void)puts("virtpod " VIRTPOD_VERSION);
		return EXIT_DONE;
	}
	if (at == argc)
		return help(stderr);
	if (str_eq(argv[at], "help"))
		return help_for(argv[at + 1]);
	c = command_find(argv[at]);
	if (!c) {
		log_error("no command '%s'; virtpod help lists them", argv[at]);
		return EXIT_USAGE;
	}
	cli.command = c;
	return c->run(&cli, argc - at, argv + at);
}
