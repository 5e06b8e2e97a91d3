// SPDX-License-Identifier: Apache-2.0
#include "cgroups/mounts.h"

#include "lib/util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The fields of one line that matter here; they point into it and are not terminated. */
struct line {
	const char *dev, *root, *path, *type, *options;
	size_t dev_len, root_len, path_len, type_len, options_len;
};

static const char *next_field(const char **p, const char *end, size_t *ret_len)
{
	const char *start = *p, *space = memchr(start, ' ', (size_t)(end - start));

	*ret_len = (size_t)((space ? space : end) - start);
	*p = space ? space + 1 : end;
	return start;
}

/* id parent major:minor root path options [tags…] - type source super-options */
static int parse_line(const char *p, const char *end, struct line *ret)
{
	size_t len;

	(void)next_field(&p, end, &len);
	(void)next_field(&p, end, &len);
	ret->dev = next_field(&p, end, &ret->dev_len);
	ret->root = next_field(&p, end, &ret->root_len);
	ret->path = next_field(&p, end, &ret->path_len);
	for (;;) {
		const char *f = next_field(&p, end, &len);

		if (!len)
			return -EINVAL;
		if (len == 1 && *f == '-')
			break;
	}
	ret->type = next_field(&p, end, &ret->type_len);
	(void)next_field(&p, end, &len);
	ret->options = next_field(&p, end, &ret->options_len);
	return ret->type_len && ret->options_len ? 0 : -EINVAL;
}

/* Blanks and backslashes are written as three octal digits. */
static int unescape(const char *s, size_t len, char *buf, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len; n++) {
		if (n + 1 >= size)
			return -ENAMETOOLONG;
		if (s[i] == '\\' && len - i >= 4) {
			buf[n] = (char)((s[i + 1] & 7) << 6 | (s[i + 2] & 7) << 3 | (s[i + 3] & 7));
			i += 4;
		} else {
			buf[n] = s[i++];
		}
	}
	buf[n] = 0;
	return 0;
}

bool mounts_word_in(const char *list, size_t len, const char *word)
{
	size_t word_len = strlen(word);

	for (const char *p = list, *end = list + len; p < end;) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		size_t n = (size_t)((comma ? comma : end) - p);

		if (n == word_len && !memcmp(p, word, n))
			return true;
		p += n + 1;
	}
	return false;
}

static bool line_matches(const struct line *l, const char *controller)
{
	const char *type = controller ? "cgroup" : "cgroup2";

	if (l->type_len != strlen(type) || memcmp(l->type, type, l->type_len) != 0)
		return false;
	return !controller || mounts_word_in(l->options, l->options_len, controller);
}

static int fill_entry(const struct line *l, struct mount_entry *ret)
{
	int r = unescape(l->path, l->path_len, ret->path, sizeof ret->path);

	if (!r)
		r = unescape(l->root, l->root_len, ret->root, sizeof ret->root);
	if (r < 0)
		return r;
	return sscanf(l->dev, "%u:%u", &ret->major, &ret->minor) == 2 ? 0 : -EINVAL;
}

int mounts_find(const char *mountinfo, const char *controller, struct mount_entry *ret)
{
	struct line best = {0};

	for (const char *p = mountinfo; *p;) {
		const char *end = strchrnul(p, '\n');
		struct line l;
		bool whole;
		int r = parse_line(p, end, &l);

		if (r < 0)
			return r;
		whole = l.root_len == 1;
		if (line_matches(&l, controller) && (!best.path || (whole && best.root_len > 1)))
			best = l;
		p = *end ? end + 1 : end;
	}
	return best.path ? fill_entry(&best, ret) : -ENOENT;
}
