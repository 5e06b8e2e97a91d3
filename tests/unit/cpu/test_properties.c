// SPDX-License-Identifier: Apache-2.0
/* What must hold after any sequence of starts and stops, on any machine. */
#include "tests/unit/cpu/machine.h"

#include <errno.h>
#include <string.h>

#define MAX_VMS 64
#define STEPS	60

struct world {
	struct cpu_topology topology;
	struct cpu_policy policy;
	unsigned n;
	struct cpu_holder vms[MAX_VMS];
	unsigned seed;
	bool equal_cores;
};

static int core_of(const struct world *w, int cpu)
{
	for (unsigned i = 0; i < w->topology.n; i++)
		if (w->topology.cpus[i].cpu == cpu)
			return w->topology.cpus[i].core;
	fail_msg("CPU %d isn't on this machine", cpu);
	return -1;
}

static unsigned count_nodes(const struct world *w, const cpu_set_t *set)
{
	unsigned size[CPU_SETSIZE], n = 0;

	cpu_group_sizes(&w->topology, CPU_LEVEL_NUMA, set, size);
	for (unsigned i = 0; i < CPU_SETSIZE; i++)
		n += size[i] > 0;
	return n;
}

/* Each CPU of the VM serves exactly one purpose. */
static void check_parts(const struct cpu_request *request, const struct cpu_assignment *a)
{
	cpu_set_t parts = a->emulator;
	int n = CPU_COUNT(&parts);

	assert_int_equal(a->n_vcpus, request->sockets * request->cores * request->threads);
	assert_int_equal(a->n_io, request->supplemental_io);
	assert_int_equal(n > 0, request->isolate_emulator);
	for (unsigned i = 0; i < a->n_vcpus; i++, n++)
		CPU_SET(a->vcpu[i], &parts);
	for (unsigned i = 0; i < a->n_io; i++, n++)
		CPU_SET(a->io[i], &parts);
	assert_true(CPU_EQUAL(&parts, &a->all));
	assert_int_equal(n, CPU_COUNT(&a->all));
}

static void check_promises(const struct world *w, const struct cpu_request *request,
			   const struct cpu_assignment *a)
{
	cpu_set_t shared, whole, reserved;

	check_parts(request, a);
	cpu_shared_pool(&w->topology, w->vms, w->n, &shared);
	CPU_AND(&shared, &shared, &a->all);
	assert_true(CPU_EQUAL(&shared, &a->all)); /* nobody held them, all are online */
	CPU_AND(&reserved, &w->policy.reserved, &a->all);
	assert_int_equal(CPU_COUNT(&reserved), 0);
	for (unsigned i = 0; i < a->n_vcpus; i++)
		assert_int_equal(core_of(w, a->vcpu[i]),
				 core_of(w, a->vcpu[i - i % request->threads]));
	if (w->policy.full_pcpus_only) {
		cpu_in_whole_cores(&w->topology, &a->all, &whole);
		assert_true(CPU_EQUAL(&whole, &a->all));
	}
	if (w->policy.topology == TOPOLOGY_MANAGER_SINGLE_NUMA_NODE)
		assert_int_equal(count_nodes(w, &a->all), 1);
}

/* Do the CPUs of these nodes suffice? Exact where cores have at most 2 threads. */
static bool fits_in(const struct world *w, const cpu_set_t *free, const struct cpu_request *request)
{
	unsigned vcpus = request->sockets * request->cores * request->threads;
	unsigned total = vcpus + request->supplemental_io + request->isolate_emulator;
	unsigned unit = cpu_topology_threads(&w->topology), count[CPU_SETSIZE], groups = 0;
	cpu_set_t usable = *free;

	if (w->policy.full_pcpus_only) {
		cpu_in_whole_cores(&w->topology, free, &usable);
		if (request->isolate_emulator)
			total = (total + unit - 1) / unit * unit;
		if (total % unit != 0)
			return false;
	}
	cpu_group_sizes(&w->topology, CPU_LEVEL_CORE, &usable, count);
	for (unsigned i = 0; i < CPU_SETSIZE; i++)
		groups += count[i] / request->threads;
	return groups >= vcpus / request->threads && (unsigned)CPU_COUNT(&usable) >= total;
}

/* Nothing that the policy allows and the host has is refused. */
static void check_refusal(const struct world *w, const struct cpu_request *request)
{
	cpu_set_t free, node;

	cpu_shared_pool(&w->topology, w->vms, w->n, &free);
	cpus_minus(&free, &w->policy.reserved);
	if (cpu_topology_threads(&w->topology) > 2)
		return;
	if (w->policy.topology == TOPOLOGY_MANAGER_NONE)
		assert_false(fits_in(w, &free, request));
	if (w->policy.topology != TOPOLOGY_MANAGER_SINGLE_NUMA_NODE)
		return;
	for (int id = 0; id < CPU_SETSIZE; id++) {
		CPU_ZERO(&node);
		for (unsigned i = 0; i < w->topology.n; i++)
			if (w->topology.cpus[i].numa == id)
				CPU_SET(w->topology.cpus[i].cpu, &node);
		CPU_AND(&node, &node, &free);
		assert_false(CPU_COUNT(&node) > 0 && fits_in(w, &node, request));
	}
}

static int allocate(const struct world *w, const struct cpu_request *request,
		    struct cpu_assignment *ret, struct err *err)
{
	return cpu_allocate(&w->topology, &w->policy, w->vms, w->n, request, ret, err);
}

static void start(struct world *w, const struct cpu_request *request)
{
	struct cpu_assignment a = {0}, again = {0};
	struct err err = {0};
	int r = allocate(w, request, &a, &err);

	assert_int_equal(allocate(w, request, &again, NULL), r);
	assert_memory_equal(&a, &again, sizeof a);
	if (r < 0) {
		assert_true(r == -EBUSY || r == -ENOTSUP);
		assert_true(err.code == r && strlen(err.msg) > 40);
		/* with nothing held, "not now" would be a lie */
		assert_true(r != -EBUSY || w->n > 0);
		if (w->equal_cores)
			check_refusal(w, request);
		return;
	}
	check_promises(w, request, &a);
	w->vms[w->n++] = (struct cpu_holder){.name = "default/vm", .cpus = a.all};
	/* stopping it at once leaves the same choice */
	w->n--;
	assert_int_equal(allocate(w, request, &again, NULL), 0);
	assert_memory_equal(&a, &again, sizeof a);
	w->n++;
}

static struct cpu_request random_request(struct world *w)
{
	static const unsigned threads[] = {1, 1, 1, 2};

	return (struct cpu_request){.sockets = 1 + next_random(&w->seed) % 2,
				    .cores = 1 + next_random(&w->seed) % (w->topology.n / 4 + 1),
				    .threads = threads[next_random(&w->seed) % 4],
				    .isolate_emulator = next_random(&w->seed) % 2,
				    .supplemental_io = next_random(&w->seed) % 3 / 2};
}

static unsigned live(struct world *w)
{
	unsigned started = 0;

	for (unsigned step = 0; step < STEPS; step++) {
		if (w->n > 0 && (w->n == MAX_VMS || next_random(&w->seed) % 3 == 0)) {
			unsigned victim = next_random(&w->seed) % w->n;

			w->vms[victim] = w->vms[--w->n];
		} else {
			struct cpu_request request = random_request(w);
			unsigned before = w->n;

			start(w, &request);
			started += w->n - before;
		}
	}
	return started;
}

static void live_under_all_policies(const char *description)
{
	static const enum topology_manager_policy policies[] = {
		TOPOLOGY_MANAGER_NONE, TOPOLOGY_MANAGER_BEST_EFFORT, TOPOLOGY_MANAGER_RESTRICTED,
		TOPOLOGY_MANAGER_SINGLE_NUMA_NODE};
	static const unsigned reserved[] = {0, 1, 3}; /* with SMT, 1 is half a core */
	unsigned started = 0;

	for (unsigned p = 0; p < 24; p++) {
		struct world w = {.seed = 88172645 + p, .equal_cores = true};
		cpu_set_t pool, all;

		machine(description, &w.topology);
		w.policy.manager = CPU_MANAGER_STATIC;
		w.policy.topology = policies[p / 2 % 4];
		w.policy.full_pcpus_only = p % 2;
		assert_int_equal(cpu_reserve_count(&w.topology,
						   w.topology.n > 3 ? reserved[p / 8] : 0,
						   &w.policy.reserved, NULL),
				 0);
		started += live(&w);
		cpu_shared_pool(&w.topology, w.vms, 0, &pool);
		cpu_topology_all(&w.topology, &all);
		assert_true(CPU_EQUAL(&pool, &all));
	}
	assert_true(started > 0);
}

static void promises_hold(void **state)
{
	static const char *const machines[] = {
		"pack:1 core:1 pu:1",
		"pack:1 core:2 pu:1",
		"pack:1 core:2 pu:2",
		"pack:1 numa:2 core:3 pu:2",
		"pack:2 numa:1 core:4 pu:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)",
		"pack:2 numa:4 core:6 pu:2",
		"pack:3 numa:1 core:5 pu:1",
		"pack:2 numa:1 core:4 pu:8",
		"pack:8 numa:1 core:24 pu:2", /* 384 */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof machines / sizeof machines[0]; i++)
		live_under_all_policies(machines[i]);
}

/* Two cores with two threads, four with one: no fixed number of threads per core. */
static void unequal_cores(void **state)
{
	static const int core[] = {0, 0, 2, 2, 4, 5, 6, 7};

	(void)state;
	for (unsigned p = 0; p < 4; p++) {
		struct world w = {.seed = 362436069 + p};

		for (int i = 0; i < 8; i++)
			w.topology.cpus[w.topology.n++] =
				(struct cpu_info){.cpu = i, .core = core[i]};
		w.policy.manager = CPU_MANAGER_STATIC;
		w.policy.full_pcpus_only = p % 2;
		if (p / 2)
			CPU_SET(4, &w.policy.reserved);
		assert_true(live(&w) > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(promises_hold),
		cmocka_unit_test(unequal_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
