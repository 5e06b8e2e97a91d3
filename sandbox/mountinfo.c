// SPDX-License-Identifier: Apache-2.0
#include "sandbox/mountinfo.h"

#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* id parent major:minor root point options [tags…] - fs source super-options */
int mountinfo_next(char **text, struct mountinfo *ret)
{
	enum { ROOT = 3, POINT, OPTIONS, BEFORE_TAGS };
	char *line = strsep(text, "\n"), *field[BEFORE_TAGS], *tail;
	struct mountinfo m;

	if (!line || !*line)
		return 0;
	tail = strstr(line, " - ");
	if (!tail)
		return -EBADMSG;
	*tail = 0;
	tail += 3;
	for (int i = 0; i < BEFORE_TAGS; i++) {
		field[i] = strsep(&line, " ");
		if (!field[i])
			return -EBADMSG;
	}
	m = (struct mountinfo){
		.root = field[ROOT], .point = field[POINT], .options = field[OPTIONS]};
	m.fs = strsep(&tail, " ");
	m.source = tail ? strsep(&tail, " ") : NULL;
	m.super_options = tail;
	if (!m.super_options)
		return -EBADMSG;
	*ret = m;
	return 1;
}

static bool has_option(const char *options, const char *name, size_t len)
{
	for (const char *p = options; *p; p += *p == ',') {
		size_t n = strcspn(p, ",");

		if (n == len && strncmp(p, name, len) == 0)
			return true;
		p += n;
	}
	return false;
}

static bool has_options(const char *options, const char *wanted)
{
	for (const char *p = wanted; *p; p += *p == ',') {
		size_t n = strcspn(p, ",");

		if (!has_option(options, p, n))
			return false;
		p += n;
	}
	return true;
}

static bool falls_under(const struct mountinfo_rule *rule, const char *point)
{
	const char *rest = str_after(point, rule->point);

	return rest && (!*rest || (rule->below && *rest == '/'));
}

static int verify_one(const struct mountinfo_rule *rules, size_t n, const struct mountinfo *m,
		      struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (!falls_under(&rules[i], m->point))
			continue;
		if (has_options(m->options, rules[i].options))
			return 0;
		return err_set(err, -EPERM, "sandbox: mount %s has options %s, must have %s",
			       m->point, m->options, rules[i].options);
	}
	return err_set(err, -EPERM, "sandbox: %s (%s) is mounted, but must not be visible",
		       m->point, m->fs);
}

int mountinfo_verify(const struct mountinfo_rule *rules, size_t n, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	bool have_root = false;
	struct mountinfo m;
	char *next;
	int r = file_read_at(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX, &text, NULL);

	if (r < 0)
		return err_errno(err, r, "sandbox: reading /proc/self/mountinfo");
	next = text;
	while ((r = mountinfo_next(&next, &m)) > 0) {
		have_root = have_root || str_eq(m.point, "/");
		r = verify_one(rules, n, &m, err);
		if (r < 0)
			return r;
	}
	if (r < 0 || !have_root)
		return err_set(err, -EBADMSG, "sandbox: /proc/self/mountinfo: no root or no sense");
	return 0;
}
