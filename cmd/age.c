// SPDX-License-Identifier: Apache-2.0
#include "cmd/age.h"

#include <stdio.h>
#include <string.h>

#define MINUTE 60LL
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define YEAR   (365 * DAY)

/* "4h" or, where the smaller unit counts and is not 0, "4h20m". */
static char *two(char *buf, long long big, char big_unit, long long small, char small_unit)
{
	if (small)
		(void)snprintf(buf, AGE_MAX, "%lld%c%lld%c", big, big_unit, small, small_unit);
	else
		(void)snprintf(buf, AGE_MAX, "%lld%c", big, big_unit);
	return buf;
}

char *age_text(long long s, char buf[static AGE_MAX])
{
	if (s < 0)
		s = 0;
	if (s < 2 * MINUTE)
		return two(buf, s, 's', 0, 0);
	if (s < 10 * MINUTE)
		return two(buf, s / MINUTE, 'm', s % MINUTE, 's');
	if (s < 3 * HOUR)
		return two(buf, s / MINUTE, 'm', 0, 0);
	if (s < 8 * HOUR)
		return two(buf, s / HOUR, 'h', s % HOUR / MINUTE, 'm');
	if (s < 2 * DAY)
		return two(buf, s / HOUR, 'h', 0, 0);
	if (s < 8 * DAY)
		return two(buf, s / DAY, 'd', s % DAY / HOUR, 'h');
	if (s < 2 * YEAR)
		return two(buf, s / DAY, 'd', 0, 0);
	if (s < 8 * YEAR)
		return two(buf, s / YEAR, 'y', s % YEAR / DAY, 'd');
	return two(buf, s / YEAR, 'y', 0, 0);
}

time_t age_time(const char *rfc3339)
{
	struct tm tm = {0};
	const char *end = rfc3339 ? strptime(rfc3339, "%Y-%m-%dT%H:%M:%SZ", &tm) : NULL;

	return end && !*end ? timegm(&tm) : -1;
}

char *age_since(const char *rfc3339, time_t now, char buf[static AGE_MAX])
{
	time_t then = age_time(rfc3339);

	if (then < 0) {
		(void)snprintf(buf, AGE_MAX, "<unknown>");
		return buf;
	}
	return age_text((long long)(now - then), buf);
}
