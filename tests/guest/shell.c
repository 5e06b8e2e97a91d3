// SPDX-License-Identifier: Apache-2.0
/*
 * The commands. Those that take time run in a child, so that PID 1 keeps listening to the power
 * button; the next line is read when the child has ended, so that answers never mix.
 */
#include "lib/util.h"
#include "tests/guest/guest.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

struct command {
	const char *name;
	const char *args;
	const char *help;
	int (*run)(int argc, char **argv, struct err *err);
	int min_args, max_args; /* the last argument takes the rest of the line */
	bool in_child;
};

static int cmd_help(int argc, char **argv, struct err *err);

static const struct command commands[] = {
	{"acpi", "ignore|obey", "what the power button does", cmd_acpi, 1, 1, false},
	{"addr", "", "NICs with MAC, MTU and addresses", cmd_addr, 0, 0, false},
	{"alloc", "MIB", "take memory, touch it and keep it", cmd_alloc, 1, 1, false},
	{"burn", "SECONDS", "load every CPU", cmd_burn, 1, 1, true},
	{"cmdline", "", "the kernel's command line", cmd_cmdline, 0, 0, false},
	{"cpus", "", "CPUs online and their topology", cmd_cpus, 0, 0, false},
	{"disks", "", "disks with size, bus and serial", cmd_disks, 0, 0, false},
	{"flood", "LINES", "lines of 80 characters", cmd_flood, 1, 1, true},
	{"hang", "", "answer nothing any more", cmd_hang, 0, 0, false},
	{"help", "", "this list", cmd_help, 0, 0, false},
	{"mem", "", "memory in KiB", cmd_mem, 0, 0, false},
	{"nodes", "", "NUMA nodes with CPUs, memory in KiB and distances", cmd_nodes, 0, 0, false},
	{"oom", "", "take memory until the kernel panics", cmd_oom, 0, 0, false},
	{"panic", "", "crash the kernel", cmd_panic, 0, 0, false},
	{"ping", "ADDR [COUNT]", "ICMP echo to an IPv4 address", cmd_ping, 1, 2, true},
	{"poweroff", "", "power off", cmd_poweroff, 0, 0, false},
	{"read", "DISK OFFSET", "text at a byte offset", cmd_read, 2, 2, true},
	{"reboot", "", "reset", cmd_reboot, 0, 0, false},
	{"rng", "", "the random number device in use", cmd_rng, 0, 0, false},
	{"watchdog", "", "start the watchdog and never feed it", cmd_watchdog, 0, 0, false},
	{"write", "DISK OFFSET TEXT", "text and a NUL, to the medium", cmd_write, 3, 3, true},
};

static int cmd_help(int argc, char **argv, struct err *err)
{
	(void)argc, (void)argv, (void)err; /* the table's signature */
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("%s%s%s: %s\n", commands[i].name, *commands[i].args ? " " : "",
		       commands[i].args, commands[i].help);
	return 0;
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (str_eq(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void answer(int r, const struct err *err)
{
	if (r < 0)
		printf("error: %s\n", err->code ? err->msg : strerror(-r));
	else
		printf("ok\n");
	(void)fflush(stdout); /* nobody is left to tell when the console is gone */
}

static pid_t run_in_child(const struct command *c, int argc, char **argv)
{
	struct err err = {0};
	sigset_t none;
	pid_t pid;

	(void)fflush(stdout); /* else the child would print it again */
	pid = fork();
	if (pid < 0)
		answer(err_errno(&err, -errno, "fork"), &err);
	if (pid)
		return pid < 0 ? 0 : pid;
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL); /* cannot fail with these arguments */
	answer(c->run(argc, argv, &err), &err);
	_exit(0);
}

pid_t shell_run(char *line)
{
	const struct command *c;
	struct err err = {0};
	char *argv[5];
	int argc;

	line += strspn(line, " \t");
	line[strcspn(line, "\r\n")] = 0;
	if (!*line)
		return 0;
	c = find(strsep(&line, " \t"));
	argc = words_split(line ? line : (char[]){""}, argv, c && c->max_args ? c->max_args : 1);
	if (!c)
		answer(err_set(&err, -EINVAL, "no such command; try help"), &err);
	else if (argc < c->min_args || argc > c->max_args)
		answer(err_set(&err, -EINVAL, "usage: %s %s", c->name, c->args), &err);
	else if (c->in_child)
		return run_in_child(c, argc, argv);
	else
		answer(c->run(argc, argv, &err), &err);
	return 0;
}
