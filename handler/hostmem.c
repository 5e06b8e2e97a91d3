// SPDX-License-Identifier: Apache-2.0
#include "handler/hostmem.h"

#include "api/plan.h"
#include "lib/cpus.h"
#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES "sys/devices/system/node"

int hostmem_nodes(int root, cpu_set_t *ret)
{
	char text[CPUS_TEXT_MAX];
	int r = file_read_line_at(root, NODES "/has_memory", text, sizeof text);

	return r < 0 ? r : cpus_parse(text, ret);
}

/* One number for each online node, in their order. */
int hostmem_distance(int root, int from, int to, unsigned *ret)
{
	char path[HOSTMEM_PATH_MAX], text[CPUS_TEXT_MAX], *p = text, *end;
	cpu_set_t online;
	int r = file_read_line_at(root, NODES "/online", text, sizeof text);

	if (r == 0)
		r = cpus_parse(text, &online);
	if (r < 0)
		return r;
	(void)snprintf(path, sizeof path, NODES "/node%d/distance", from);
	r = file_read_line_at(root, path, text, sizeof text);
	if (r < 0)
		return r;
	for (int node = -1; (node = cpus_next(&online, node)) >= 0; p = end) {
		unsigned long distance = strtoul(p, &end, 10);

		if (end == p || distance > UINT8_MAX)
			return -EBADMSG;
		if (node == to) {
			*ret = (unsigned)distance;
			return 0;
		}
	}
	return -ENOENT;
}

int hostmem_node(int root, int node, uint64_t *ret)
{
	_cleanup_free_ char *text = NULL;
	char path[HOSTMEM_PATH_MAX], *total;
	int r;

	(void)snprintf(path, sizeof path, NODES "/node%d/meminfo", node);
	r = file_read_at(root, path, 64 * 1024, &text, NULL);
	if (r < 0)
		return r;
	total = strstr(text, "MemTotal:");
	if (!total)
		return -EBADMSG;
	*ret = strtoull(total + strlen("MemTotal:"), NULL, 10) * 1024;
	return 0;
}

static void pool_folder(uint64_t page_size, int node, char ret[static HOSTMEM_PATH_MAX])
{
	if (node < 0)
		(void)snprintf(ret, HOSTMEM_PATH_MAX,
			       "sys/kernel/mm/hugepages/hugepages-%" PRIu64 "kB", page_size / 1024);
	else
		(void)snprintf(ret, HOSTMEM_PATH_MAX,
			       NODES "/node%d/hugepages/hugepages-%" PRIu64 "kB", node,
			       page_size / 1024);
}

char *hostmem_pool_file(uint64_t page_size, int node, char ret[static HOSTMEM_PATH_MAX])
{
	char folder[HOSTMEM_PATH_MAX];

	pool_folder(page_size, node, folder);
	(void)snprintf(ret, HOSTMEM_PATH_MAX, "/%.90s/nr_hugepages", folder);
	return ret;
}

static int read_count(int root, const char *folder, const char *name, uint64_t *ret)
{
	char path[2 * HOSTMEM_PATH_MAX], text[32], *end;
	int r;

	(void)snprintf(path, sizeof path, "%s/%s", folder, name);
	r = file_read_line_at(root, path, text, sizeof text);
	if (r < 0)
		return r;
	*ret = strtoull(text, &end, 10);
	return end == text || *end ? -EBADMSG : 0;
}

int hostmem_hugepages(int root, uint64_t page_size, int node, struct hugepages *ret)
{
	char folder[HOSTMEM_PATH_MAX];
	uint64_t promised =
		0; /* mapped by somebody and not touched yet; counted for the whole host only */
	int r;

	pool_folder(page_size, node, folder);
	r = read_count(root, folder, "nr_hugepages", &ret->total);
	if (r == 0)
		r = read_count(root, folder, "free_hugepages", &ret->free);
	if (r == 0 && node < 0)
		r = read_count(root, folder, "resv_hugepages", &promised);
	if (r < 0)
		return r;
	ret->free -= promised < ret->free ? promised : ret->free;
	return 0;
}

uint64_t hostmem_pools(int root, int node)
{
	static const uint64_t sizes[] = {(uint64_t)2 << 20, (uint64_t)1 << 30};
	struct hugepages pool;
	uint64_t sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (hostmem_hugepages(root, sizes[i], node, &pool) == 0)
			sum += pool.total * sizes[i];
	return sum;
}
