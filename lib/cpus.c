// SPDX-License-Identifier: Apache-2.0
#include "lib/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int parse_number(const char **p, int *ret)
{
	int v = 0;

	if (!isdigit((unsigned char)**p))
		return -EINVAL;
	for (; isdigit((unsigned char)**p); (*p)++) {
		v = v * 10 + (**p - '0');
		if (v >= CPU_SETSIZE)
			return -ERANGE;
	}
	*ret = v;
	return 0;
}

int cpus_parse(const char *text, cpu_set_t *ret)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	while (*text && *text != '\n') {
		int lo, hi, r;

		r = parse_number(&text, &lo);
		if (r < 0)
			return r;
		hi = lo;
		if (*text == '-') {
			text++;
			r = parse_number(&text, &hi);
			if (r < 0)
				return r;
		}
		if (hi < lo)
			return -EINVAL;
		for (int i = lo; i <= hi; i++)
			CPU_SET(i, &set);
		if (*text == ',' && isdigit((unsigned char)text[1]))
			text++;
		else if (*text && *text != '\n')
			return -EINVAL;
	}
	*ret = set;
	return 0;
}

char *cpus_format(const cpu_set_t *set, char buf[static CPUS_TEXT_MAX])
{
	size_t n = 0;

	buf[0] = 0;
	for (int i = cpus_next(set, -1); i >= 0;) {
		int end = i;

		while (end + 1 < CPU_SETSIZE && CPU_ISSET(end + 1, set))
			end++;
		n += (size_t)snprintf(buf + n, CPUS_TEXT_MAX - n, end > i ? "%s%d-%d" : "%s%d",
				      n ? "," : "", i, end);
		i = cpus_next(set, end);
	}
	return buf;
}

int cpus_next(const cpu_set_t *set, int after)
{
	for (int i = after + 1; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, set))
			return i;
	return -1;
}

void cpus_minus(cpu_set_t *a, const cpu_set_t *b)
{
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, b))
			CPU_CLR(i, a);
}
