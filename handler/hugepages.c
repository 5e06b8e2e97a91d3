// SPDX-License-Identifier: Apache-2.0
#include "handler/hugepages.h"

#include "handler/hostmem.h"

#include "lib/cpus.h"
#include "lib/util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define NODE_ANY -1 /* the whole host */

struct wish { /* pages of one size, from these nodes together */
	int root;
	const struct plan *plan;
	const struct hugepages_claim *claims;
	unsigned n_claims;
	const char *nodes; /* list; NULL: the host */
	int first;	   /* lowest of them, or NODE_ANY */
	uint64_t wanted;
};

static const char *size_name(const struct plan *plan)
{
	return plan->hugepage_size == (uint64_t)1 << 30 ? "1Gi" : "2Mi";
}

static bool overlap(const char *a, const char *b)
{
	cpu_set_t x, y;

	if (!a || !b) /* anywhere: here, too, perhaps */
		return true;
	if (cpus_parse(a, &x) < 0 || cpus_parse(b, &y) < 0)
		return true;
	CPU_AND(&x, &x, &y);
	return CPU_COUNT(&x) > 0;
}

/* Pages that a claim has or will have on the wish's nodes, as far as anybody can tell. */
static uint64_t pages_there(const struct wish *w, const struct plan *other)
{
	uint64_t bytes = 0;

	if (other->hugepage_size != w->plan->hugepage_size)
		return 0;
	if (!other->n_cells || !w->nodes)
		bytes = other->memory_guest;
	for (unsigned i = 0; w->nodes && i < other->n_cells; i++)
		if (overlap(w->nodes, other->cells[i].host_nodes))
			bytes += other->cells[i].memory;
	return bytes / other->hugepage_size;
}

static int count(const struct wish *w, struct hugepages *ret)
{
	struct hugepages pool;
	cpu_set_t nodes;
	int r = 0;

	*ret = (struct hugepages){0};
	if (!w->nodes)
		return hostmem_hugepages(w->root, w->plan->hugepage_size, NODE_ANY, ret);
	(void)cpus_parse(w->nodes, &nodes); /* ours (placement.c), or checked with the plan */
	for (int node = -1; r == 0 && (node = cpus_next(&nodes, node)) >= 0;) {
		r = hostmem_hugepages(w->root, w->plan->hugepage_size, node, &pool);
		if (r < 0)
			break;
		ret->total += pool.total;
		ret->free += pool.free;
	}
	return r;
}

/* ", held by NAME 12, NAME 30 (starting)" */
static void name_holders(const struct wish *w, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < w->n_claims && n < size; i++) {
		uint64_t pages = pages_there(w, w->claims[i].plan);

		if (pages)
			n += (size_t)snprintf(text + n, size - n, "%s%.100s %" PRIu64 "%s",
					      n ? ", " : "; held by ", w->claims[i].name, pages,
					      w->claims[i].taken ? "" : " (starting)");
	}
}

static int refuse(const struct wish *w, const struct hugepages *pool, uint64_t free,
		  struct err *err)
{
	char holders[300], file[HOSTMEM_PATH_MAX], where[64] = "on this host";
	struct hugepages first = *pool;

	if (w->nodes) {
		(void)snprintf(where, sizeof where, "on NUMA node %.40s", w->nodes);
		/* the pool of one node is what the command makes larger */
		(void)hostmem_hugepages(w->root, w->plan->hugepage_size, w->first, &first);
	}
	name_holders(w, holders, sizeof holders);
	return err_set(err, -EBUSY,
		       "hugepages: wanted %" PRIu64 " pages of %s %s, free %" PRIu64 " of %" PRIu64
		       "%s: stop others, or make the pool larger: echo %" PRIu64 " > %s",
		       w->wanted, size_name(w->plan), where, free, pool->total, holders,
		       first.total + w->wanted - free,
		       hostmem_pool_file(w->plan->hugepage_size, w->first, file));
}

static int admit(const struct wish *w, struct err *err)
{
	struct hugepages pool;
	uint64_t coming = 0, free;
	int r = count(w, &pool);

	if (r == -ENOENT)
		return err_set(err, -ENOTSUP,
			       "hugepages: this kernel has no pages of %s%s%.40s: take another "
			       "memory.hugepages.pageSize",
			       size_name(w->plan), w->nodes ? " on NUMA node " : "",
			       w->nodes ? w->nodes : "");
	if (r < 0)
		return err_errno(err, r, "hugepages: reading the pools of %s pages",
				 size_name(w->plan));
	for (unsigned i = 0; i < w->n_claims; i++)
		if (!w->claims[i].taken)
			coming += pages_there(w, w->claims[i].plan);
	free = pool.free > coming ? pool.free - coming : 0;
	return w->wanted <= free ? 0 : refuse(w, &pool, free, err);
}

int hugepages_admit(int root, const struct plan *plan, const struct hugepages_claim *claims,
		    unsigned n_claims, struct err *err)
{
	struct wish w = {root, plan, claims, n_claims, NULL, NODE_ANY, 0};
	int r = 0;

	if (!plan->hugepage_size)
		return 0;
	for (unsigned i = 0; r == 0 && i < plan->n_cells; i++) {
		cpu_set_t nodes;

		w.nodes = plan->cells[i].host_nodes;
		(void)cpus_parse(w.nodes, &nodes);
		w.first = cpus_next(&nodes, -1);
		w.wanted = plan->cells[i].memory / plan->hugepage_size;
		r = admit(&w, err);
	}
	/* pages that somebody was promised, and has not touched, are known for the host only */
	w.nodes = NULL;
	w.first = NODE_ANY;
	w.wanted = plan->memory_guest / plan->hugepage_size;
	return r < 0 ? r : admit(&w, err);
}

/* Step qemu ends when QEMU answers, and by then it has touched every page. */
static bool has_pages(const struct pod *pod)
{
	return pod->state != POD_STARTING || pod->record.step > pod_step_index("qemu");
}

int hugepages_check(int root, const struct pod *pod, struct err *err)
{
	struct hugepages_claim *claims = NULL;
	unsigned n = 0;
	int r;

	for (const struct pod *p = pod->h->pods; p; p = p->next) {
		if (p == pod || !p->plan || !p->plan->hugepage_size)
			continue;
		claims = xrealloc(claims, n + 1, sizeof *claims);
		claims[n++] = (struct hugepages_claim){
			xasprintf("%s/%s", p->record.ns, p->record.name), p->plan, has_pages(p)};
	}
	r = hugepages_admit(root, pod->plan, claims, n, err);
	while (n)
		free((char *)(uintptr_t)claims[--n].name);
	free(claims);
	return r;
}
