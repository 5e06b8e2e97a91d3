// SPDX-License-Identifier: Apache-2.0
/* CPU lists as the kernel writes them ("0-3,7") to and from cpu_set_t (up to 1024 CPUs). */
#pragma once

#include <sched.h>
#include <stddef.h>

#define CPUS_TEXT_MAX 4096 /* longest list of 1024 CPUs: alternating ones, 512 times "nnn," */

/* Empty text is the empty set. -EINVAL on bad syntax, -ERANGE on a CPU beyond CPU_SETSIZE. */
int cpus_parse(const char *text, cpu_set_t *ret);

/* Ranges in ascending order, no newline; the result is `buf`. */
char *cpus_format(const cpu_set_t *set, char buf[static CPUS_TEXT_MAX]);

int cpus_next(const cpu_set_t *set, int after);	   /* lowest CPU > after, or -1 */
void cpus_minus(cpu_set_t *a, const cpu_set_t *b); /* a &= ~b */
