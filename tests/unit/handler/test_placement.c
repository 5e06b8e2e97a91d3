// SPDX-License-Identifier: Apache-2.0
/* Memory follows the CPUs: which nodes, which pieces, which of the guest's vCPUs on each. */
#include "tests/unit/unit.h"

#include "handler/hostmem.h"
#include "handler/placement.h"

#include "tests/unit/handler/sysfs.h"

#include "lib/cpus.h"

#include <errno.h>

/* Three nodes of 4 CPUs each: 0-3, 4-7, 8-11; synthetic ones are numbered 0 to 2: 2 becomes sysfs.h's 3. */
static void machine(struct cpu_topology *ret)
{
	struct err err = {0};

	if (cpu_topology_synthetic("pack:3 numa:1 core:4 pu:1", ret, &err) < 0)
		fail_msg("%s", err.msg);
	for (unsigned i = 0; i < ret->n; i++)
		if (ret->cpus[i].numa == 2)
			ret->cpus[i].numa = 3;
}

static struct plan *plan_of(unsigned vcpus, uint64_t pages)
{
	struct plan *p = xcalloc(1, sizeof *p);

	p->sockets = p->threads = 1;
	p->cores = vcpus;
	p->dedicated_cpus = true;
	p->hugepage_size = 2 << 20;
	p->memory_guest = pages * p->hugepage_size;
	return p;
}

static int place(const struct sysfs *s, struct plan *p, const int *cpus, int emulator,
		 struct err *err)
{
	struct cpu_assignment a = {.n_vcpus = plan_vcpus(p)};
	struct cpu_topology t;

	machine(&t);
	for (unsigned i = 0; i < a.n_vcpus; i++) {
		a.vcpu[i] = cpus[i];
		CPU_SET(cpus[i], &a.all);
	}
	if (emulator >= 0) {
		CPU_SET(emulator, &a.emulator);
		CPU_SET(emulator, &a.all);
	}
	return placement_make(s->root, &t, &a, p, err);
}

/* placed on these CPUs or fails the test */
static struct plan *placed(const struct sysfs *s, struct plan *p, const int *cpus, int emulator)
{
	struct err err = {0};

	if (place(s, p, cpus, emulator, &err) < 0)
		fail_msg("%s", err.msg);
	return p;
}

static void refused(const struct sysfs *s, struct plan *p, const int *cpus, const char *word)
{
	struct err err = {0};

	assert_int_equal(place(s, p, cpus, -1, &err), -ENOTSUP);
	if (!strstr(err.msg, word))
		fail_msg("'%s' is not in: %s", word, err.msg);
	plan_free(p);
}

static void distances(void **state)
{
	const struct sysfs *s = *state;
	unsigned d = 0;

	assert_int_equal(hostmem_distance(s->root, 1, 0, &d), 0);
	assert_int_equal(d, 22);
	/* the third number is node 3's, as there is no node 2 */
	assert_int_equal(hostmem_distance(s->root, 1, 3, &d), 0);
	assert_int_equal(d, 31);
	assert_int_equal(hostmem_distance(s->root, 1, 2, &d), -ENOENT);
	assert_int_equal(hostmem_distance(s->root, 2, 1, &d), -ENOENT);
	sysfs_put(s, "sys/devices/system/node/node1/distance", "22 10");
	assert_int_equal(hostmem_distance(s->root, 1, 3, &d), -EBADMSG);
}

static void on_one_node(void **state)
{
	struct plan *p = placed(*state, plan_of(2, 32), (int[]){5, 6}, -1);

	assert_string_equal(p->memory_nodes, "1");
	assert_int_equal(p->n_cells, 1);
	assert_string_equal(p->cells[0].host_nodes, "1");
	assert_string_equal(p->cells[0].vcpus, "0-1");
	assert_int_equal(p->cells[0].memory, p->memory_guest);
	plan_free(p);
}

/* The emulator's own CPU opens its node to the pod, not to guest memory. */
static void emulator_elsewhere(void **state)
{
	struct plan *p = placed(*state, plan_of(1, 32), (int[]){5}, 0);

	assert_string_equal(p->memory_nodes, "0-1");
	assert_string_equal(p->cells[0].host_nodes, "1");
	plan_free(p);
}

static void on_two_nodes_unseen(void **state)
{
	struct plan *p = placed(*state, plan_of(2, 32), (int[]){3, 4}, -1);

	assert_int_equal(p->n_cells, 1);
	assert_string_equal(p->cells[0].host_nodes, "0-1");
	plan_free(p);
}

static void without_cpus_of_its_own(void **state)
{
	struct plan *p = plan_of(1, 32);

	p->dedicated_cpus = false;
	p = placed(*state, p, (int[]){5}, -1);
	assert_null(p->memory_nodes);
	assert_int_equal(p->n_cells, 0);
	plan_free(p);
}

/* A node without memory is left out; with no other node left nothing is bound. */
static void node_without_memory(void **state)
{
	struct plan *p = placed(*state, plan_of(2, 32), (int[]){4, 8}, -1);

	assert_string_equal(p->memory_nodes, "1");
	assert_string_equal(p->cells[0].host_nodes, "1");
	plan_free(p);
	p = placed(*state, plan_of(1, 32), (int[]){8}, -1);
	assert_null(p->memory_nodes);
	assert_int_equal(p->n_cells, 0);
	plan_free(p);
}

static struct plan *seen(unsigned vcpus, uint64_t pages)
{
	struct plan *p = plan_of(vcpus, pages);

	p->numa_passthrough = true;
	return p;
}

static void guest_sees_them(void **state)
{
	struct plan *p = placed(*state, seen(3, 33), (int[]){1, 4, 2}, 7);
	json_t *json;

	assert_int_equal(p->n_cells, 2);
	assert_string_equal(p->cells[0].host_nodes, "0");
	assert_string_equal(p->cells[0].vcpus, "0,2");
	assert_int_equal(p->cells[0].memory,
			 17 * p->hugepage_size); /* the odd page is the first's */
	assert_string_equal(p->cells[1].host_nodes, "1");
	assert_string_equal(p->cells[1].vcpus, "1");
	assert_int_equal(p->cells[1].memory, 16 * p->hugepage_size);
	assert_int_equal(p->cells[0].distance[0], 10);
	assert_int_equal(p->cells[0].distance[1], 21);
	assert_int_equal(p->cells[1].distance[0], 22);
	json = plan_to_json(p);
	assert_int_equal(json_array_size(json_object_get(json, "cells")), 2);
	json_decref(json);
	plan_free(p);
}

/* What firmware says and QEMU does not take: 255 is unreachable, 10 a node and itself. */
static void odd_distances(void **state)
{
	const struct sysfs *s = *state;
	struct plan *p;

	sysfs_put(s, "sys/devices/system/node/has_memory", "0-1,3");
	p = placed(s, seen(2, 32), (int[]){1, 8}, -1);
	assert_int_equal(p->cells[0].distance[1], 254);
	assert_int_equal(p->cells[1].distance[0], 11);
	plan_free(p);
}

static void impossible(void **state)
{
	const struct sysfs *s = *state;

	refused(s, seen(2, 32), (int[]){1, 8}, "NUMA node 3, which has no memory");
	refused(s, seen(2, 1), (int[]){1, 5}, "on 2 NUMA nodes, its memory is 1 pages");
	assert_int_equal(unlinkat(s->root, "sys/devices/system/node/has_memory", 0), 0);
	refused(s, seen(1, 32), (int[]){1}, "has_memory");
}

/* A kernel built without NUMA has nothing to bind to. */
static void no_nodes_at_all(void **state)
{
	const struct sysfs *s = *state;
	struct plan *p;

	assert_int_equal(unlinkat(s->root, "sys/devices/system/node/has_memory", 0), 0);
	p = placed(s, plan_of(1, 32), (int[]){1}, -1);
	assert_null(p->memory_nodes);
	assert_int_equal(p->n_cells, 0);
	plan_free(p);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, sysfs_setup, sysfs_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(distances),
		TEST(on_one_node),
		TEST(emulator_elsewhere),
		TEST(on_two_nodes_unseen),
		TEST(without_cpus_of_its_own),
		TEST(node_without_memory),
		TEST(guest_sees_them),
		TEST(odd_distances),
		TEST(impossible),
		TEST(no_nodes_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
