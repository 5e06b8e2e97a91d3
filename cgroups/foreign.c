// SPDX-License-Identifier: Apache-2.0
/* What other roots' pods may run on: their top cpusets, read, never written. */
#include "cgroups/foreign.h"

#include "lib/cpus.h"
#include "lib/file.h"
#include "lib/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* "virtpod-" and a tag that is not ours; side groups have a dot behind it. */
static bool is_foreign_top(const struct tree *t, const char *name)
{
	const char *tag = str_after(name, "virtpod-");

	return tag && strlen(tag) == TREE_TAG_LEN &&
	       strspn(tag, "0123456789abcdef") == TREE_TAG_LEN && strcmp(tag, t->tag) != 0;
}

static int add_top(int dir, const char *name, cpu_set_t *sum)
{
	_cleanup_free_ char *path = xasprintf("%s/cpuset.cpus", name);
	char text[CPUS_TEXT_MAX];
	cpu_set_t cpus;
	int r = file_read_line_at(dir, path, text, sizeof text);

	if (r == -ENOENT || r == -ENODEV)
		return 0; /* its last pod has gone meanwhile */
	if (r == 0)
		r = cpus_parse(text, &cpus);
	if (r == 0)
		CPU_OR(sum, sum, &cpus);
	return r;
}

int foreign_cpus(const struct tree *t, cpu_set_t *ret, struct err *err)
{
	_cleanup_dir_ DIR *dir = NULL;
	struct dirent *de;
	cpu_set_t sum;
	int fd, r = 0;

	CPU_ZERO(&sum);
	fd = openat(t->fd[HIER_CPUSET], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		r = -errno;
		(void)fd_close(fd);
		return err_errno(err, r, "cgroup: cpuset");
	}
	while (r == 0 && (de = readdir(dir)))
		if (is_foreign_top(t, de->d_name))
			r = add_top(dirfd(dir), de->d_name, &sum);
	if (r < 0)
		return err_errno(err, r, "cgroup: cpusets of other roots");
	*ret = sum;
	return 0;
}
