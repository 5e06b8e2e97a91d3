// SPDX-License-Identifier: Apache-2.0
/*
 * The parts of the test guest: PID 1 (init.c) brings the machine up, loop.c waits for console lines
 * and for the power button, shell.c runs the commands, which the other files implement.
 * Commands print `key=value` lines; the shell adds the final `ok` or `error: …`.
 */
#pragma once

#include "lib/err.h"

#include <limits.h>
#include <net/if.h>
#include <stdbool.h>
#include <sys/types.h>

/* Decimal text in [min, max]; on failure `err` names `what` and the range. */
int num_parse(const char *text, const char *what, long min, long max, long *ret, struct err *err);

/* Cut `line` at blanks into at most `max` words (the last one takes the rest); returns their count. */
int words_split(char *line, char **ret_words, int max);

/* A sysfs or procfs line in buf, "" when there is none. */
const char *line_read(char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* shell.c: one command line, answer included. Returns a child's pid when it runs on in one, else 0. */
pid_t shell_run(char *line);

/* loop.c: from loop_listen on no input and no press of the button is lost; loop_run never returns. */
void loop_listen(void);
void loop_run(void) __attribute__((noreturn));

/* power.c */
#define BUTTONS_MAX 8
int button_open_all(int ret_fds[BUTTONS_MAX]); /* the ACPI power buttons; returns how many */
bool button_pressed(int fd);		       /* drains the device's events */
void button_obey(void);			       /* power off, unless told to ignore it */
void acpi_ignore(bool ignore);
int cmd_acpi(int argc, char **argv, struct err *err);
int cmd_poweroff(int argc, char **argv, struct err *err);
int cmd_reboot(int argc, char **argv, struct err *err);
int cmd_panic(int argc, char **argv, struct err *err);
int cmd_hang(int argc, char **argv, struct err *err);

/* nic.c: `spec` is NIC/ADDR/PREFIX, NIC a name or an index among the NICs that are not lo. */
#define NICS_MAX 32
int nic_list(char ret_names[NICS_MAX][IF_NAMESIZE]); /* without lo, by ifindex; returns how many */
int nic_up(const char *name, struct err *err);
int nic_configure(char *spec, struct err *err);
int cmd_addr(int argc, char **argv, struct err *err);

/* ping.c */
int cmd_ping(int argc, char **argv, struct err *err);

/* disk.c */
int cmd_disks(int argc, char **argv, struct err *err);
int cmd_read(int argc, char **argv, struct err *err);
int cmd_write(int argc, char **argv, struct err *err);

/* machine.c */
long mem_kib(const char *field); /* a field of /proc/meminfo, -1 when it is not there */
int cmd_cpus(int argc, char **argv, struct err *err);
int cmd_mem(int argc, char **argv, struct err *err);
int cmd_nodes(int argc, char **argv, struct err *err);
int cmd_cmdline(int argc, char **argv, struct err *err);
int cmd_rng(int argc, char **argv, struct err *err);

/* load.c */
int cmd_burn(int argc, char **argv, struct err *err);
int cmd_alloc(int argc, char **argv, struct err *err);
int cmd_oom(int argc, char **argv, struct err *err);
int cmd_flood(int argc, char **argv, struct err *err);
int cmd_watchdog(int argc, char **argv, struct err *err);
