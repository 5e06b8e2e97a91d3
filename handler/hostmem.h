// SPDX-License-Identifier: Apache-2.0
/*
 * The host's NUMA nodes and pools of huge pages, as /sys has them below the directory `root` ("/", or a
 * test's). Nothing is kept: whoever asks gets what is there now. Node -1 stands for the whole host.
 */
#pragma once

#include <sched.h>
#include <stdint.h>

/* Nodes that have memory. -ENOENT: this kernel knows no nodes. */
int hostmem_nodes(int root, cpu_set_t *ret);

/* The kernel's distance between two nodes, 10 for the same one. -ENOENT: no such node. */
int hostmem_distance(int root, int from, int to, unsigned *ret);

/* Bytes of a node's memory. */
int hostmem_node(int root, int node, uint64_t *ret);

struct hugepages { /* pages */
	uint64_t total;
	uint64_t free; /* neither in use nor promised to anybody */
};

/* -ENOENT: the kernel has no pages of this size (or there is no such node). */
int hostmem_hugepages(int root, uint64_t page_size, int node, struct hugepages *ret);

/* Bytes in the pools of all sizes: memory that nobody else can have. 0 where there are none. */
uint64_t hostmem_pools(int root, int node);

/* The file that sets a pool's size, as a path of this host. */
#define HOSTMEM_PATH_MAX 128
char *hostmem_pool_file(uint64_t page_size, int node, char ret[static HOSTMEM_PATH_MAX]);
