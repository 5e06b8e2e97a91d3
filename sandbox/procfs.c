// SPDX-License-Identifier: Apache-2.0
#include "sandbox/procfs.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/util.h"
#include "sandbox/status.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

json_t *procfs_text(const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text);

	str_line(copy, '?');
	return json_string(copy);
}

json_t *procfs_field(const char *status, const char *key)
{
	char value[4096];

	return status_field(status, key, value, sizeof value) < 0 ? json_null()
								  : procfs_text(value);
}

json_t *procfs_numbers(const char *status, const char *key)
{
	json_t *list = json_array();
	char value[4096], *end;

	if (status_field(status, key, value, sizeof value) < 0)
		return list;
	for (char *p = value;; p = end) {
		unsigned long n = strtoul(p, &end, 10);

		if (end == p)
			return list;
		json_array_append_new(list, json_integer((json_int_t)n));
	}
}

uint64_t procfs_number(const char *status, const char *key)
{
	char value[32];

	return status_field(status, key, value, sizeof value) < 0 ? 0 : strtoull(value, NULL, 10);
}

json_t *procfs_map(const char *text)
{
	json_t *list = json_array();
	unsigned inside, outside, count;

	for (const char *p = text; sscanf(p, "%u %u %u", &inside, &outside, &count) == 3;) {
		json_array_append_new(
			list, json_pack("{s:I, s:I, s:I}", "inside", (json_int_t)inside, "outside",
					(json_int_t)outside, "count", (json_int_t)count));
		p = strchr(p, '\n');
		if (!p || !*++p)
			break;
	}
	return list;
}

/*
 * proc(5): fields 19 (nice), 40 (rt_priority) and 41 (policy) of stat, counted from behind the name,
 * which the process chooses and which may hold blanks and brackets.
 */
int procfs_scheduling(char *stat, json_t *out)
{
	static const char *const policies[] = {"SCHED_OTHER",	"SCHED_FIFO", "SCHED_RR",
					       "SCHED_BATCH",	NULL,	      "SCHED_IDLE",
					       "SCHED_DEADLINE"};
	enum { FIRST = 3, NICE = 19, RT_PRIORITY = 40, POLICY = 41 };
	long field[POLICY + 1] = {0};
	char *p = strrchr(stat, ')'), *word;

	if (!p || *++p != ' ')
		return -EBADMSG;
	p++;
	for (int i = FIRST; i <= POLICY; i++) {
		word = strsep(&p, " ");
		if (!word)
			return -EBADMSG;
		field[i] = strtol(word, NULL, 10);
	}
	if (field[POLICY] < 0 || (size_t)field[POLICY] >= ARRAY_SIZE(policies) ||
	    !policies[field[POLICY]])
		json_object_set_new(out, "policy", json_integer(field[POLICY]));
	else
		json_object_set_new(out, "policy", json_string(policies[field[POLICY]]));
	json_object_set_new(out, "priority", json_integer(field[RT_PRIORITY]));
	json_object_set_new(out, "nice", json_integer(field[NICE]));
	return 0;
}

/* "Max open files            20000                20000                files": name ends at two blanks. */
int procfs_limits(char *text, json_t **ret)
{
	_cleanup_json_ json_t *all = json_array();
	char *line;

	(void)strsep(&text, "\n"); /* the heading */
	while ((line = strsep(&text, "\n")) && *line) {
		char *end = strstr(line, "  "), soft[32], hard[32];
		json_t *limit;

		if (!end || sscanf(end, "%31s %31s", soft, hard) != 2)
			return -EBADMSG;
		*end = 0;
		limit = json_object();
		json_object_set_new(limit, "name", procfs_text(line));
		json_object_set_new(limit, "soft", procfs_text(soft));
		json_object_set_new(limit, "hard", procfs_text(hard));
		json_array_append_new(all, limit);
	}
	*ret = TAKE_PTR(all);
	return 0;
}

int procfs_each(int at, const char *path, int (*fn)(int dir, const char *name, void *arg),
		void *arg)
{
	_cleanup_dir_ DIR *dir = NULL;
	unsigned seen = 0;
	struct dirent *de;
	int r = dir_open_at(at, path, &dir);

	if (r < 0)
		return r;
	while ((errno = 0, de = readdir(dir))) {
		if (!isdigit((unsigned char)de->d_name[0]))
			continue;
		if (++seen > PROCFS_MAX_ENTRIES)
			return -E2BIG;
		r = fn(dirfd(dir), de->d_name, arg);
		if (r < 0)
			return r;
	}
	return -errno;
}
