// SPDX-License-Identifier: Apache-2.0
#include "api/vcpumask.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cpus.h"

/* Digits alone, at most five of them; moves *text behind them. */
static bool number(const char **text, unsigned *ret)
{
	size_t digits = strspn(*text, "0123456789");

	if (digits == 0 || digits > 5)
		return false;
	*ret = (unsigned)strtoul(*text, NULL, 10);
	*text += digits;
	return true;
}

/* One item, and the comma behind it if another one follows. */
static int item(const char **text, unsigned n, cpu_set_t *in, cpu_set_t *out)
{
	bool without = **text == '^';
	unsigned first, last;

	*text += without;
	if (!number(text, &first))
		return -EINVAL;
	last = first;
	if (**text == '-' && !without) {
		++*text;
		if (!number(text, &last) || last < first)
			return -EINVAL;
	}
	if (**text == ',' && (*text)[1])
		++*text;
	else if (**text)
		return -EINVAL;
	if (last >= n)
		return -ERANGE;
	for (; first <= last; first++)
		CPU_SET(first, without ? out : in);
	return 0;
}

int vcpumask_parse(const char *mask, unsigned n, cpu_set_t *ret, struct err *err)
{
	const char *p = mask && *mask ? mask : NULL;
	cpu_set_t in, out;
	int r = 0;

	CPU_ZERO(&in);
	CPU_ZERO(&out);
	for (unsigned i = 0; !p && i < n; i++)
		CPU_SET(i, &in);
	while (r == 0 && p && *p)
		r = item(&p, n, &in, &out);
	if (r == -ERANGE)
		return err_set(err, -EINVAL,
			       "'%.60s' names a vCPU that is not there: the VM has %u", mask, n);
	if (r < 0)
		return err_set(err, r, "'%.60s' must be a list of vCPUs such as 0-3,^1", mask);
	cpus_minus(&in, &out);
	if (!CPU_COUNT(&in))
		return err_set(err, -EINVAL, "'%.60s' leaves no vCPU", mask ? mask : "");
	*ret = in;
	return 0;
}
