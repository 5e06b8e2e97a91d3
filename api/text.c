// SPDX-License-Identifier: Apache-2.0
#include "api/text.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cpus.h"
#include "lib/util.h"

#define LABEL_MAX 63 /* bytes of a DNS label */

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_name(const char *s, size_t len, bool label)
{
	if (len == 0 || len > LABEL_MAX || !is_alnum(s[0]) || !is_alnum(s[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++) {
		bool upper = s[i] >= 'A' && s[i] <= 'Z';

		if (label ? upper || (!is_alnum(s[i]) && s[i] != '-')
			  : !is_alnum(s[i]) && !strchr("_.-", s[i]))
			return false;
	}
	return true;
}

static bool is_line(const char *s, size_t max)
{
	_cleanup_free_ char *clean = xstrdup(s);

	str_line(clean, '?');
	return strlen(s) <= max && str_eq(s, clean);
}

static bool is_path(const char *s)
{
	const char *dots = s;

	if (s[0] != '/' || !is_line(s, PATH_MAX - 1))
		return false;
	while ((dots = strstr(dots, "/.."))) {
		dots += 3;
		if (*dots == '/' || *dots == '\0')
			return false;
	}
	return true;
}

static bool is_uuid(const char *s)
{
	if (strlen(s) != 36)
		return false;
	for (int i = 0; i < 36; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? s[i] != '-' : !strchr("0123456789abcdefABCDEF", s[i]))
			return false;
	}
	return true;
}

static bool is_link(const char *s)
{
	size_t len = strlen(s);

	if (len == 0 || len > 15 || !strcmp(s, ".") || !strcmp(s, ".."))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (s[i] <= ' ' || s[i] > '~' || s[i] == '/' || s[i] == ':')
			return false;
	}
	return true;
}

static bool is_cidr(const char *s)
{
	const char *slash = strchr(s, '/');
	char address[INET6_ADDRSTRLEN];
	unsigned char bytes[16];
	int bits;

	if (!slash || (size_t)(slash - s) >= sizeof(address))
		return false;
	memcpy(address, s, (size_t)(slash - s));
	address[slash - s] = '\0';
	bits = inet_pton(AF_INET, address, bytes) == 1	  ? 32
	       : inet_pton(AF_INET6, address, bytes) == 1 ? 128
							  : -1;
	if (slash[1] < '1' || slash[1] > '9' || strspn(slash + 1, "0123456789") > 3 ||
	    slash[1 + strspn(slash + 1, "0123456789")])
		return false;
	return strtol(slash + 1, NULL, 10) <= bits;
}

static bool is_cpus(const char *s)
{
	cpu_set_t set;

	return is_line(s, CPUS_TEXT_MAX - 1) && cpus_parse(s, &set) == 0 && CPU_COUNT(&set) > 0;
}

bool text_ok(const char *s, enum text_kind kind)
{
	const char *slash;

	switch (kind) {
	case TEXT_LABEL:
		return is_name(s, strlen(s), true);
	case TEXT_NAME:
		return is_name(s, strlen(s), false);
	case TEXT_PATH:
		return is_path(s);
	case TEXT_LINE:
		return is_line(s, 256);
	case TEXT_ARGS:
		return is_line(s, 2047);
	case TEXT_UUID:
		return is_uuid(s);
	case TEXT_OBJECT:
		slash = strchr(s, '/');
		return slash && is_name(s, (size_t)(slash - s), true) &&
		       is_name(slash + 1, strlen(slash + 1), false);
	case TEXT_LINK:
		return is_link(s);
	case TEXT_CPUS:
		return is_cpus(s);
	case TEXT_CIDR:
		return is_cidr(s);
	}
	return false;
}
