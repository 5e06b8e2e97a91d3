// SPDX-License-Identifier: Apache-2.0
#include "cgroups/devices.h"

#include "lib/util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int devices_check(const struct cgroup_device *d, struct err *err)
{
	const char *access = d->access ? d->access : "";
	size_t n = strlen(access);

	if (d->type != 'c' && d->type != 'b')
		return err_set(err, -EINVAL, "device %u:%u: type must be 'c' or 'b', not '%c'",
			       d->major, d->minor, d->type);
	if (d->major >= 1U << 12 || (!d->any_minor && d->minor >= 1U << 20))
		return err_set(err, -EINVAL,
			       "device %u:%u: numbers go up to 4095 (major) and 1048575 (minor)",
			       d->major, d->minor);
	if (!n || n > 3 || strspn(access, "rwm") != n)
		return err_set(err, -EINVAL,
			       "device %u:%u: access must be of the letters 'rwm', not '%.40s'",
			       d->major, d->minor, access);
	return 0;
}

static bool same_device(const struct cgroup_device *a, const struct cgroup_device *b)
{
	return a->type == b->type && a->major == b->major && a->any_minor == b->any_minor &&
	       (a->any_minor || a->minor == b->minor);
}

bool devices_merged(const struct cgroup_device *list, unsigned n, unsigned i,
		    char ret_access[static 4])
{
	unsigned len = 0;

	for (unsigned k = 0; k < i; k++)
		if (same_device(&list[i], &list[k]))
			return false;
	for (const char *letter = "rwm"; *letter; letter++) {
		bool found = false;

		for (unsigned k = i; k < n; k++)
			found |= same_device(&list[i], &list[k]) && strchr(list[k].access, *letter);
		if (found)
			ret_access[len++] = *letter;
	}
	ret_access[len] = 0;
	return true;
}

void devices_format(const struct cgroup_device *d, char ret[static DEVICES_LINE_MAX])
{
	char minor[16] = "*";
	char access[4];

	(void)devices_merged(d, 1, 0, access); /* puts the letters in order */
	if (!d->any_minor)
		(void)snprintf(minor, sizeof minor, "%u", d->minor);
	(void)snprintf(ret, DEVICES_LINE_MAX, "%c %u:%s %s", d->type, d->major, minor, access);
}

static bool has_line(const char *text, const char *line)
{
	size_t len = strlen(line);

	for (const char *p = text; p && *p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (!strncmp(p, line, len) && (!p[len] || p[len] == '\n'))
			return true;
	}
	return false;
}

static unsigned count_lines(const char *text)
{
	unsigned n = 0;

	for (const char *p = text; *p; p = strchrnul(p, '\n')) {
		p += *p == '\n';
		n += *p && *p != '\n';
	}
	return n;
}

int devices_compare(const char *text, const struct cgroup_device *list, unsigned n, struct err *err)
{
	unsigned lines = count_lines(text), want = 0;
	char line[DEVICES_LINE_MAX];

	for (unsigned i = 0; i < n; i++) {
		struct cgroup_device d = list[i];
		char access[4];

		if (!devices_merged(list, n, i, access))
			continue;
		want++;
		d.access = access;
		devices_format(&d, line);
		if (!has_line(text, line))
			return err_set(err, -EIO,
				       "cgroup devices: '%s' was allowed but the kernel's list "
				       "doesn't hold it",
				       line);
	}
	if (lines != want)
		return err_set(err, -EIO,
			       "cgroup devices: %u devices were allowed but the kernel lists %u: "
			       "%.200s",
			       want, lines, text);
	return 0;
}
