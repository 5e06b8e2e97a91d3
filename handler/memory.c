// SPDX-License-Identifier: Apache-2.0
#include "handler/memory.h"

#include "handler/hostmem.h"

#include "lib/cpus.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/sysinfo.h>

#define MIB (1024 * 1024)

/* Huge pages come from pools of their own, which are no part of what is shared here. */
static uint64_t wanted(const struct plan *plan)
{
	return (plan->hugepage_size ? 0 : plan->memory_guest) + plan->memory_overhead +
	       plan->tcg_tb_size;
}

/* Nodes that this memory can only be on, or NULL: any. */
static const char *nodes_of(const struct plan *plan)
{
	return plan->n_cells && !plan->hugepage_size ? plan->cells[0].host_nodes
						     : plan->memory_nodes;
}

static bool inside(const char *list, const char *nodes)
{
	cpu_set_t a, b;

	if (!list || cpus_parse(list, &a) < 0 || cpus_parse(nodes, &b) < 0)
		return false;
	cpus_minus(&a, &b);
	return !CPU_COUNT(&a);
}

static int host_total(uint64_t *ret, struct err *err)
{
	struct sysinfo info;

	if (sysinfo(&info) < 0)
		return err_errno(err, -errno, "the host's memory");
	*ret = (uint64_t)info.totalram * info.mem_unit;
	return 0;
}

static int nodes_total(int root, const char *nodes, uint64_t *ret, struct err *err)
{
	uint64_t sum = 0;
	cpu_set_t set;
	int r = cpus_parse(nodes, &set);

	for (int node = -1; r == 0 && (node = cpus_next(&set, node)) >= 0;) {
		uint64_t bytes = 0;

		r = hostmem_node(root, node, &bytes);
		sum += bytes;
	}
	if (r < 0)
		return err_errno(err, r, "memory of NUMA node %s", nodes);
	*ret = sum;
	return 0;
}

static uint64_t pools_of(int root, const char *nodes)
{
	uint64_t sum = 0;
	cpu_set_t set;

	if (!nodes)
		return hostmem_pools(root, -1);
	(void)cpus_parse(nodes, &set); /* nodes_total has read it */
	for (int node = -1; (node = cpus_next(&set, node)) >= 0;)
		sum += hostmem_pools(root, node);
	return sum;
}

/*
 * nodes NULL: the host. Of others' memory only what can be nowhere but on these nodes is counted: no VM
 * is refused for what may well be elsewhere.
 */
static int check(const struct pod *pod, const char *nodes, uint64_t total, struct err *err)
{
	uint64_t held = 0, want = wanted(pod->plan);
	char holders[400] = "";
	size_t n = 0;

	for (const struct pod *p = pod->h->pods; p; p = p->next) {
		if (p == pod || !p->plan || (nodes && !inside(nodes_of(p->plan), nodes)))
			continue;
		held += wanted(p->plan);
		if (n < sizeof holders)
			n += (size_t)snprintf(holders + n, sizeof holders - n,
					      "%s%s/%s %" PRIu64 " MiB", n ? ", " : "; held by ",
					      p->record.ns, p->record.name, wanted(p->plan) / MIB);
	}
	if (want <= total && held <= total - want)
		return 0;
	return err_set(err, -EBUSY,
		       "memory: wanted %" PRIu64 " MiB (%soverhead)%s%.60s, free %" PRIu64
		       " of %" PRIu64 " MiB%s: give the VM less, or stop others",
		       want / MIB, pod->plan->hugepage_size ? "" : "guest and ",
		       nodes ? " on NUMA node " : "", nodes ? nodes : "",
		       held < total ? (total - held) / MIB : 0, total / MIB, holders);
}

static int check_below(int root, const struct pod *pod, const char *nodes, struct err *err)
{
	uint64_t total = 0, pools;
	int r = nodes ? nodes_total(root, nodes, &total, err) : host_total(&total, err);

	if (r < 0)
		return r;
	pools = pools_of(root, nodes);
	return check(pod, nodes, total - (pools < total ? pools : total), err);
}

int memory_check(const struct pod *pod, struct err *err)
{
	_cleanup_fd_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return err_errno(err, -errno, "/");
	return check_below(root, pod, NULL, err);
}

int memory_check_nodes(int root, const struct pod *pod, struct err *err)
{
	const char *nodes = nodes_of(pod->plan);

	return nodes ? check_below(root, pod, nodes, err) : 0;
}
