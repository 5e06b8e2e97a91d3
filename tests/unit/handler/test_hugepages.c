// SPDX-License-Identifier: Apache-2.0
/* Pages and nodes: what a host must have before a VM that wants them starts. */
#include "tests/unit/unit.h"

#include "handler/hostmem.h"
#include "handler/hugepages.h"
#include "handler/memory.h"

#include "tests/unit/handler/sysfs.h"

#include <errno.h>

#define PAGE ((uint64_t)2 << 20)

static struct plan *plan_of(uint64_t pages)
{
	struct plan *p = xcalloc(1, sizeof *p);

	p->hugepage_size = PAGE;
	p->memory_guest = pages * PAGE;
	return p;
}

static struct plan *with_cell(struct plan *p, const char *nodes, uint64_t pages)
{
	struct plan_cell *c = &p->cells[p->n_cells++];

	c->host_nodes = xstrdup(nodes);
	c->memory = pages * PAGE;
	return p;
}

/* words NULL: admitted; else refused, and every one of these is in the message. */
static void admits(const struct sysfs *s, struct plan *p, const struct hugepages_claim *claims,
		   unsigned n, const char *const *words)
{
	struct err err = {0};
	int r = hugepages_admit(s->root, p, claims, n, &err);

	if (!words && r < 0)
		fail_msg("%s", err.msg);
	if (words)
		assert_int_equal(r, -EBUSY);
	for (; words && *words; words++)
		if (!strstr(err.msg, *words))
			fail_msg("'%s' is not in: %s", *words, err.msg);
	plan_free(p);
}

#define REFUSED(...) ((const char *const[]){__VA_ARGS__, NULL})

static int setup(void **state)
{
	(void)sysfs_setup(state);
	sysfs_put_pool(*state, -1, 100, 60, 10);
	sysfs_put_pool(*state, 0, 70, 50, 0);
	sysfs_put_pool(*state, 1, 30, 10, 0);
	return 0;
}

static void pools(void **state)
{
	const struct sysfs *s = *state;
	struct hugepages pool;

	assert_int_equal(hostmem_hugepages(s->root, PAGE, -1, &pool), 0);
	assert_int_equal(pool.total, 100);
	assert_int_equal(pool.free, 50); /* less what somebody has mapped and not touched */
	assert_int_equal(hostmem_hugepages(s->root, PAGE, 1, &pool), 0);
	assert_int_equal(pool.free, 10);
	assert_int_equal(hostmem_hugepages(s->root, PAGE, 2, &pool), -ENOENT);
	assert_int_equal(hostmem_pools(s->root, -1), 100 * PAGE);
	sysfs_put_pool(s, -1, 100, 5, 10);
	assert_int_equal(hostmem_hugepages(s->root, PAGE, -1, &pool), 0);
	assert_int_equal(pool.free, 0);
	sysfs_put(s, "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "x");
	assert_int_equal(hostmem_hugepages(s->root, PAGE, -1, &pool), -EBADMSG);
}

static void anywhere(void **state)
{
	admits(*state, plan_of(50), NULL, 0, NULL);
	admits(*state, plan_of(51), NULL, 0,
	       REFUSED("wanted 51 pages of 2Mi on this host, free 50 of 100",
		       "echo 101 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"));
}

static void on_a_node(void **state)
{
	admits(*state, with_cell(plan_of(10), "1", 10), NULL, 0, NULL);
	admits(*state, with_cell(plan_of(12), "1", 12), NULL, 0,
	       REFUSED("wanted 12 pages of 2Mi on NUMA node 1, free 10 of 30",
		       "echo 32 > "
		       "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages"));
	/* both nodes have them; the host has promised some of them to others */
	admits(*state, with_cell(with_cell(plan_of(60), "0", 50), "1", 10), NULL, 0,
	       REFUSED("wanted 60 pages of 2Mi on this host, free 50"));
	admits(*state, with_cell(plan_of(45), "0-1", 45), NULL, 0, NULL);
	admits(*state, with_cell(plan_of(61), "0-1", 61), NULL, 0,
	       REFUSED("on NUMA node 0-1, free 60 of 100", "echo 71 > ", "/node0/"));
}

/* Two that start at once must not both be given the last pages. */
static void those_that_start(void **state)
{
	struct plan *one = with_cell(plan_of(8), "1", 8), *any = plan_of(1);
	struct hugepages_claim claims[] = {{"default/one", one, .taken = false},
					   {"default/any", any, .taken = false}};

	admits(*state, with_cell(plan_of(2), "1", 2), claims, 1, NULL);
	admits(*state, with_cell(plan_of(3), "1", 3), claims, 1,
	       REFUSED("free 2 of 30", "held by default/one 8 (starting)", "echo 31 > "));
	/* one that is bound to no node may take from this one */
	admits(*state, with_cell(plan_of(2), "1", 2), claims, 2,
	       REFUSED("free 1 of 30", "default/one 8 (starting), default/any 1 (starting)"));
	admits(*state, with_cell(plan_of(41), "0", 41), claims, 1, NULL);
	/* what QEMU has is counted by the kernel */
	claims[0].taken = claims[1].taken = true;
	admits(*state, with_cell(plan_of(10), "1", 10), claims, 2, NULL);
	admits(*state, with_cell(plan_of(11), "1", 11), claims, 2,
	       REFUSED("free 10 of 30", "held by default/one 8, default/any 1:"));
	plan_free(one);
	plan_free(any);
}

static void other_sizes_do_not_count(void **state)
{
	struct plan *large = plan_of(1), *small = plan_of(1);
	const struct hugepages_claim claims[] = {{"default/large", large, .taken = false}};
	struct err err = {0};

	large->hugepage_size = large->memory_guest = (uint64_t)1 << 30;
	admits(*state, plan_of(50), claims, 1, NULL);
	assert_int_equal(hugepages_admit(((struct sysfs *)*state)->root, large, NULL, 0, &err),
			 -ENOTSUP);
	assert_non_null(strstr(err.msg, "this kernel has no pages of 1Gi"));
	small->hugepage_size = 0; /* no huge pages: nothing to ask for */
	small->memory_guest = (uint64_t)1 << 40;
	admits(*state, small, claims, 1, NULL);
	plan_free(large);
}

/* Ordinary pages of a node are counted as promised, less its pools. */
static void ordinary_memory_of_a_node(void **state)
{
	const struct sysfs *s = *state;
	struct handler h = {0};
	struct plan *mine = with_cell(plan_of(512), "1", 512),
		    *theirs = with_cell(plan_of(256), "1", 256);
	struct pod other = {.h = &h,
			    .plan = theirs,
			    .record = {.ns = (char[]){"default"}, .name = (char[]){"b"}}};
	struct pod pod = {.h = &h, .plan = mine, .next = &other};
	struct err err = {0};

	h.pods = &pod;
	mine->hugepage_size = theirs->hugepage_size = 0;
	sysfs_put(s, "sys/devices/system/node/node1/meminfo",
		  "Node 1 MemTotal:       2097152 kB\nNode 1 MemFree: 1 kB");
	assert_int_equal(memory_check_nodes(s->root, &pod, &err), 0);
	sysfs_put_pool(s, 1, 257, 10, 0); /* 2 GiB less 514 MiB: 2 MiB are missing */
	assert_int_equal(memory_check_nodes(s->root, &pod, &err), -EBUSY);
	assert_string_equal(err.msg,
			    "memory: wanted 1024 MiB (guest and overhead) on NUMA node 1, "
			    "free 1022 of 1534 MiB; held by default/b 512 MiB: give the VM "
			    "less, or stop others");
	err_clear(&err);
	/* the other's may be on node 0 as well */
	free(theirs->cells[0].host_nodes);
	theirs->cells[0].host_nodes = xstrdup("0-1");
	assert_int_equal(memory_check_nodes(s->root, &pod, &err), 0);
	/* nothing of the nodes that could be read counts when one can't be */
	free(mine->cells[0].host_nodes);
	mine->cells[0].host_nodes = xstrdup("1,3");
	assert_int_equal(memory_check_nodes(s->root, &pod, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "memory of NUMA node 1,3"));
	err_clear(&err);
	/* without nodes there is nothing to say; huge pages are counted elsewhere */
	mine->n_cells = 0;
	assert_int_equal(memory_check_nodes(-1, &pod, &err), 0);
	mine->n_cells = 1;
	plan_free(mine);
	plan_free(theirs);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, sysfs_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pools),
		TEST(anywhere),
		TEST(on_a_node),
		TEST(those_that_start),
		TEST(other_sizes_do_not_count),
		TEST(ordinary_memory_of_a_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
