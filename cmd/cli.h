// SPDX-License-Identifier: Apache-2.0
/*
 * What every command of virtpod shares: global options, exit codes, and the form of a command. One
 * file per command; each exports its struct command, cmd/virtpod.c has the table.
 */
#pragma once

#include "lib/err.h"

#include <stdbool.h>

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,     /* the thing asked for failed, or a promise is broken */
	EXIT_USAGE = 2,	     /* not a command line of ours */
	EXIT_REFUSED = 3,    /* invalid, unschedulable, already there */
	EXIT_NO_HANDLER = 4, /* no virt-handler to talk to, or no permission */
};

enum output { OUTPUT_TABLE, OUTPUT_WIDE, OUTPUT_JSON, OUTPUT_YAML, OUTPUT_NAME };

#define OUTPUT_BIT(o) (1u << (o))

struct command;

struct cli {
	const struct command *command; /* NULL: not known yet */
	const char *root;	       /* --root, or NULL */
	const char *ns;		       /* -n, or NULL: not given */
	enum output output;
	bool verbose;
};

struct command {
	const char *name;
	const char *summary; /* one line for `virtpod help` */
	const char *usage;   /* the text of --help, with a newline at its end */
	int (*run)(struct cli *cli, int argc, char **argv); /* argv[0] is the name; an exit_code */
	unsigned outputs; /* OUTPUT_BITs that -o may say; a table always may be had */
};

extern const struct command command_apply, command_bench, command_cleanup, command_console,
	command_create, command_delete, command_describe, command_doctor, command_get,
	command_inspect, command_logs, command_render, command_run, command_verify, command_wait;

/* The namespace that names without one are in. */
const char *cli_namespace(const struct cli *cli);

/*
 * How a command of ours begins that reaches what this one reaches, for hints: "virtpod --root DIR -n NS",
 * quoted for a shell. ns NULL: that of -n, if it was given. The caller's.
 */
char *cli_me(const char *ns);
void cli_remember(const struct cli *cli); /* what was given */

/* Print the error as virtpod's one line on stderr; returns the exit code that its errno means. */
int cli_fail(const struct err *err);

/* The exit code for a negative errno: of refusals 3, of a missing handler or permission 4, else 1. */
int cli_exit_code(int r);
