// SPDX-License-Identifier: Apache-2.0
/* A host's /sys and /proc/sys in a folder of a test's own. After "tests/unit/unit.h". */
#pragma once

#include "lib/file.h"
#include "lib/util.h"

#include <fcntl.h>
#include <libgen.h>
#include <string.h>

struct sysfs {
	char dir[64];
	int root;
};

static inline void sysfs_put(const struct sysfs *s, const char *path, const char *text)
{
	_cleanup_free_ char *copy = xstrdup(path), *line = xasprintf("%s\n", text);
	_cleanup_fd_ int fd = -1;

	assert_int_equal(mkdir_p_at(s->root, dirname(copy), 0755), 0);
	fd = openat(s->root, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, line, strlen(line)), 0);
}

static inline void sysfs_put_number(const struct sysfs *s, uint64_t number, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static inline void sysfs_put_number(const struct sysfs *s, uint64_t number, const char *fmt, ...)
{
	char path[200], text[32];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(path, sizeof path, fmt, ap);
	va_end(ap);
	(void)snprintf(text, sizeof text, "%llu", (unsigned long long)number);
	sysfs_put(s, path, text);
}

/* Pages of 2 MiB; node -1: the host, `promised` pages of which are reserved. */
static inline void sysfs_put_pool(const struct sysfs *s, int node, uint64_t total, uint64_t free,
				  uint64_t promised)
{
	char dir[100] = "sys/kernel/mm/hugepages/hugepages-2048kB";

	if (node >= 0)
		(void)snprintf(dir, sizeof dir,
			       "sys/devices/system/node/node%d/hugepages/hugepages-2048kB", node);
	sysfs_put_number(s, total, "%s/nr_hugepages", dir);
	sysfs_put_number(s, free, "%s/free_hugepages", dir);
	if (node < 0)
		sysfs_put_number(s, promised, "%s/resv_hugepages", dir);
}

/* Nodes 0, 1 and 3; node 3 has no memory. */
static inline int sysfs_setup(void **state)
{
	struct sysfs *s = xcalloc(1, sizeof *s);

	(void)snprintf(s->dir, sizeof s->dir, "/tmp/virtpod-sysfs-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	s->root = open(s->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(s->root >= 0);
	sysfs_put(s, "sys/devices/system/node/online", "0-1,3");
	sysfs_put(s, "sys/devices/system/node/has_memory", "0-1");
	sysfs_put(s, "sys/devices/system/node/node0/distance", "10 21 255");
	sysfs_put(s, "sys/devices/system/node/node1/distance", "22 10 31");
	sysfs_put(s, "sys/devices/system/node/node3/distance", "10 30 10");
	*state = s;
	return 0;
}

static inline int sysfs_teardown(void **state)
{
	struct sysfs *s = *state;

	(void)fd_close(s->root);
	(void)rm_rf_at(AT_FDCWD, s->dir);
	free(s);
	return 0;
}
