// SPDX-License-Identifier: Apache-2.0
/* The promises of the allocator, each on the smallest host that could break it. */
#include "tests/unit/cpu/machine.h"

#include <errno.h>
#include <string.h>

/* One socket of 4 cores with 2 threads, numbered as most firmware does: 0,4 1,5 2,6 3,7. */
#define SMT    "pack:1 core:4 pu:2(indexes=0,4,1,5,2,6,3,7)"
#define NO_SMT "pack:1 core:8 pu:1"

struct host {
	struct cpu_topology topology;
	struct cpu_policy policy;
	unsigned n;
	struct cpu_holder holders[8];
	struct err err;
};

static void host(const char *description, const char *reserved, struct host *ret)
{
	memset(ret, 0, sizeof *ret);
	machine(description, &ret->topology);
	ret->policy.manager = CPU_MANAGER_STATIC;
	ret->policy.reserved = cpus(reserved);
}

static void hold(struct host *h, const char *name, const char *list)
{
	h->holders[h->n++] = (struct cpu_holder){.name = name, .cpus = cpus(list)};
}

static int ask(struct host *h, struct cpu_request request, struct cpu_assignment *ret)
{
	err_clear(&h->err);
	return cpu_allocate(&h->topology, &h->policy, h->holders, h->n, &request, ret, &h->err);
}

static struct cpu_request vm(unsigned sockets, unsigned cores, unsigned threads)
{
	return (struct cpu_request){.sockets = sockets, .cores = cores, .threads = threads};
}

static struct cpu_request isolated(unsigned sockets, unsigned cores, unsigned threads)
{
	struct cpu_request r = vm(sockets, cores, threads);

	r.isolate_emulator = true;
	return r;
}

/* P1: CPU numbers, not positions in a list */
static void vcpus_get_cpu_numbers(void **state)
{
	struct cpu_assignment a;
	struct host h;

	(void)state;
	host(NO_SMT, "0-3", &h);
	assert_int_equal(ask(&h, vm(1, 4, 1), &a), 0);
	assert_int_equal(a.n_vcpus, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(a.vcpu[i], 4 + i);
	assert_cpus(a.all, "4-7");
}

/* P2: no CPU twice, neither in one VM nor in two */
static void second_vm_gets_others_or_nothing(void **state)
{
	struct cpu_assignment a, b;
	cpu_set_t both;
	struct host h;

	(void)state;
	host(SMT, "0", &h);
	assert_int_equal(ask(&h, vm(3, 1, 1), &a), 0);
	h.holders[h.n++] = (struct cpu_holder){.name = "default/a", .cpus = a.all};
	assert_int_equal(ask(&h, isolated(1, 3, 1), &b), 0);
	CPU_AND(&both, &a.all, &b.all);
	assert_cpus(both, "");
	for (unsigned i = 0; i < b.n_vcpus; i++)
		assert_false(CPU_ISSET(b.vcpu[i], &b.emulator));
	h.holders[h.n++] = (struct cpu_holder){.name = "default/b", .cpus = b.all};
	assert_int_equal(ask(&h, vm(1, 1, 1), &a), -EBUSY);
	cpu_shared_pool(&h.topology, h.holders, h.n, &both);
	assert_cpus(both, "0");
}

/* P4: the user guide's isolateEmulatorThread with limits.cpu: 2 */
static void emulator_gets_one_cpu_more(void **state)
{
	struct cpu_assignment a;
	struct host h;

	(void)state;
	host(NO_SMT, "0", &h);
	assert_int_equal(ask(&h, isolated(2, 1, 1), &a), 0);
	assert_int_equal(a.n_vcpus, 2);
	assert_cpus(a.all, "1-3");
	assert_cpus(a.emulator, "3");
	assert_int_equal(ask(&h, vm(2, 1, 1), &a), 0);
	assert_cpus(a.all, "1-2");
	assert_cpus(a.emulator, "");
}

static void io_threads_get_cpus_of_their_own(void **state)
{
	struct cpu_request request = isolated(2, 1, 1);
	struct cpu_assignment a;
	struct host h;

	(void)state;
	host(NO_SMT, "0", &h);
	request.supplemental_io = 2;
	assert_int_equal(ask(&h, request, &a), 0);
	assert_int_equal(a.n_io, 2);
	assert_int_equal(a.io[0], 3);
	assert_int_equal(a.io[1], 4);
	assert_cpus(a.emulator, "5");
	assert_cpus(a.all, "1-5");
}

/* P8: with full-pcpus-only the emulator takes what completes the last core */
static void emulator_completes_cores(void **state)
{
	static const struct {
		unsigned vcpus, io, emulator;
	} cases[] = {{1, 0, 1}, {2, 0, 2}, {3, 0, 1}, {4, 0, 2}, {2, 1, 1}, {3, 1, 2}};
	struct host h;

	(void)state;
	host(SMT, "", &h);
	h.policy.full_pcpus_only = true;
	for (unsigned i = 0; i < 6; i++) {
		struct cpu_request request = isolated(cases[i].vcpus, 1, 1);
		struct cpu_assignment a;

		request.supplemental_io = cases[i].io;
		assert_int_equal(ask(&h, request, &a), 0);
		assert_int_equal(CPU_COUNT(&a.emulator), cases[i].emulator);
		assert_int_equal(CPU_COUNT(&a.all) % 2, 0);
	}
	host("pack:1 core:4 pu:4", "", &h);
	h.policy.full_pcpus_only = true;
	struct cpu_assignment a;

	assert_int_equal(ask(&h, isolated(5, 1, 1), &a), 0);
	assert_cpus(a.emulator, "5-7");
}

static void odd_vcpus_on_whole_cores_are_refused(void **state)
{
	struct cpu_assignment a;
	struct host h;

	(void)state;
	host(SMT, "0", &h);
	h.policy.full_pcpus_only = true;
	assert_int_equal(ask(&h, vm(3, 1, 1), &a), -ENOTSUP);
	assert_non_null(strstr(h.err.msg, "3 CPUs wanted (3 vCPUs)"));
	assert_non_null(strstr(h.err.msg, "whole cores of 2 CPUs and 3 is no multiple of 2: ask "
					  "for 1 more, or set isolateEmulatorThread"));
	/* 4's core is CPU 0's, too: 6 CPUs are in whole cores */
	assert_int_equal(ask(&h, vm(6, 1, 1), &a), 0);
	assert_cpus(a.all, "1-3,5-7");
	hold(&h, "default/a", "1");
	assert_int_equal(ask(&h, vm(6, 1, 1), &a), -EBUSY);
	assert_non_null(strstr(h.err.msg, "only 4 CPUs are in whole free cores (2-3,6-7)"));
	assert_int_equal(ask(&h, vm(8, 1, 1), &a), -ENOTSUP);
	assert_non_null(strstr(h.err.msg, "at most 6 CPUs are in whole unreserved cores (1-3,5-7): "
					  "ask for fewer or reserve less, in whole cores"));
}

/* The kubelet gives 0,2 here: two loose threads of node 0, which it likes best. */
static void full_pcpus_only_never_breaks_a_core(void **state)
{
	struct cpu_assignment a;
	struct host h;

	(void)state;
	host("pack:2 numa:1 core:4 pu:2", "1,3", &h);
	h.policy.full_pcpus_only = true;
	h.policy.topology = TOPOLOGY_MANAGER_SINGLE_NUMA_NODE;
	hold(&h, "default/a", "4-7");
	assert_int_equal(ask(&h, vm(2, 1, 1), &a), 0);
	assert_cpus(a.all, "8-9");
	/* node 0 has 4 CPUs free, but only 2 of them in a whole core */
	h.n = 0;
	hold(&h, "default/a", "6-7,10-15");
	assert_int_equal(ask(&h, vm(4, 1, 1), &a), -EBUSY);
	assert_non_null(strstr(h.err.msg, "free are in whole cores: 2 on 0, 2 on 1;"));
}

/* P9: threads of a guest core are threads of a host core, or the VM does not start */
static void guest_siblings_need_host_siblings(void **state)
{
	struct cpu_assignment a;
	struct host h;

	(void)state;
	host(NO_SMT, "0", &h);
	assert_int_equal(ask(&h, vm(1, 2, 2), &a), -ENOTSUP);
	assert_non_null(strstr(h.err.msg, "2 guest threads per core need cores with 2 threads, and "
					  "this host's have 1: set spec.domain.cpu.threads to 1"));
	host(SMT, "0", &h);
	assert_int_equal(ask(&h, vm(1, 3, 2), &a), 0);
	for (unsigned i = 0; i < 6; i += 2)
		assert_int_equal(a.vcpu[i] + 4, a.vcpu[i + 1]);
	hold(&h, "default/a", "1-2");
	assert_int_equal(ask(&h, vm(1, 2, 2), &a), -EBUSY);
	assert_non_null(strstr(h.err.msg, "2 guest cores of 2 threads need as many groups of 2 "
					  "sibling CPUs, and free are 1"));
	assert_int_equal(ask(&h, isolated(1, 1, 2), &a), 0);
	assert_int_equal(a.vcpu[0], 3);
	assert_int_equal(a.vcpu[1], 7);
	h.n = 0;
	h.policy.reserved = cpus("0-2");
	assert_int_equal(ask(&h, vm(1, 2, 2), &a), -ENOTSUP);
	assert_non_null(strstr(h.err.msg, "on this host are 1"));
}

/* The kubelet prefers node 0, where only loose threads are left; node 1 has the pair. */
static void siblings_are_looked_for_elsewhere(void **state)
{
	struct cpu_assignment a;
	struct host h;

	(void)state;
	host("pack:2 numa:1 core:2 pu:2", "", &h);
	h.policy.topology = TOPOLOGY_MANAGER_RESTRICTED;
	hold(&h, "default/a", "1,3");
	assert_int_equal(ask(&h, vm(2, 1, 1), &a), 0);
	assert_cpus(a.all, "0,2");
	assert_int_equal(ask(&h, vm(1, 1, 2), &a), 0);
	assert_cpus(a.all, "4-5");
}

/* Three loose threads on node 0; on node 1 a pair for the guest, a loose one for the emulator. */
static void loose_threads_serve_the_emulator(void **state)
{
	struct cpu_assignment a;
	struct host h;

	(void)state;
	host("pack:2 numa:1 core:3 pu:2", "", &h);
	h.policy.topology = TOPOLOGY_MANAGER_SINGLE_NUMA_NODE;
	hold(&h, "default/a", "1,3,5,7,10-11");
	assert_int_equal(ask(&h, isolated(1, 1, 2), &a), 0);
	assert_cpus(a.all, "6,8-9");
	assert_int_equal(a.vcpu[0], 8);
	assert_int_equal(a.vcpu[1], 9);
	assert_cpus(a.emulator, "6");
}

/* P15, P16: policy none is said to be the reason, together with the arithmetic */
static void policy_none_refuses_and_says_so(void **state)
{
	struct cpu_assignment a = {.n_vcpus = 7};
	struct host h;

	(void)state;
	host(NO_SMT, "", &h);
	h.policy.manager = CPU_MANAGER_NONE;
	assert_int_equal(ask(&h, isolated(2, 1, 1), &a), -ENOTSUP);
	assert_string_equal(
		h.err.msg,
		"3 CPUs wanted (2 vCPUs, 1 for the emulator), 8 free (0-7) of 8 online, reserved "
		"CPUs "
		"none, held by nobody; KubeletConfiguration cpuManagerPolicy: none gives no VM "
		"CPUs of its own: set cpuManagerPolicy: static and reservedSystemCPUs, or leave "
		"out dedicatedCpuPlacement");
	assert_int_equal(a.n_vcpus, 7);
}

/* P16: needed, allocatable, reserved, who holds them */
static void refusal_names_numbers_and_holders(void **state)
{
	struct cpu_assignment a = {.n_vcpus = 7};
	struct host h;

	(void)state;
	host(NO_SMT, "0", &h);
	hold(&h, "default/a", "1-3");
	hold(&h, "lab/b", "5-6");
	assert_int_equal(ask(&h, vm(3, 1, 1), &a), -EBUSY);
	assert_string_equal(
		h.err.msg,
		"3 CPUs wanted (3 vCPUs), 2 free (4,7) of 8 online, reserved CPUs 0, held "
		"by 'default/a': 1-3, by 'lab/b': 5-6; stop a VM that holds CPUs or "
		"ask for fewer");
	assert_int_equal(ask(&h, vm(8, 1, 1), &a), -ENOTSUP);
	assert_non_null(strstr(h.err.msg, "this host never has more than 7 to give: ask for fewer "
					  "or shorten reservedSystemCPUs"));
	assert_int_equal(ask(&h, vm(9, 1, 1), &a), -ENOTSUP);
	assert_non_null(strstr(h.err.msg, "more than 7 to give: ask for fewer"));
	assert_null(strstr(h.err.msg, "reservedSystemCPUs"));
	assert_int_equal(a.n_vcpus, 7);
}

static void numa_policies(void **state)
{
	struct cpu_assignment a;
	struct host h;

	(void)state;
	host("pack:2 numa:1 core:4 pu:1", "0", &h);
	hold(&h, "default/a", "4-6");
	h.policy.topology = TOPOLOGY_MANAGER_SINGLE_NUMA_NODE;
	assert_int_equal(ask(&h, vm(4, 1, 1), &a), -EBUSY);
	assert_non_null(strstr(h.err.msg, "topologyManagerPolicy single-numa-node doesn't let them "
					  "spread over more NUMA nodes, and free are: 3 on 0, 1 on "
					  "1; stop a VM"));
	assert_int_equal(ask(&h, vm(5, 1, 1), &a), -ENOTSUP);
	assert_non_null(strstr(h.err.msg, "there are at most: 3 on 0, 4 on 1; ask for fewer"));
	h.policy.topology = TOPOLOGY_MANAGER_RESTRICTED;
	assert_int_equal(ask(&h, vm(4, 1, 1), &a), -EBUSY);
	h.policy.topology = TOPOLOGY_MANAGER_BEST_EFFORT;
	assert_int_equal(ask(&h, vm(4, 1, 1), &a), 0);
	assert_cpus(a.all, "1-3,7");
	assert_int_equal(ask(&h, vm(2, 1, 1), &a), 0);
	assert_cpus(a.all, "1-2"); /* policy none would fill up node 1 first: 7 */
	h.policy.topology = TOPOLOGY_MANAGER_NONE;
	assert_int_equal(ask(&h, vm(1, 1, 1), &a), 0);
	assert_cpus(a.all, "7");
}

static void requests_without_sense(void **state)
{
	struct cpu_request request = vm(1, 1, 1);
	struct cpu_assignment a;
	struct host h;

	(void)state;
	host(NO_SMT, "", &h);
	assert_int_equal(ask(&h, vm(0, 4, 1), &a), -EINVAL);
	assert_int_equal(ask(&h, vm(4, 0, 1), &a), -EINVAL);
	assert_int_equal(ask(&h, vm(4, 1, 0), &a), -EINVAL);
	assert_non_null(strstr(h.err.msg, "4 sockets x 1 cores x 0 threads"));
	/* products that would wrap around 32 bits to a small number */
	assert_int_equal(ask(&h, vm(65536, 65536, 1), &a), -ENOTSUP);
	assert_int_equal(ask(&h, vm(4294967295, 4294967295, 4294967295), &a), -ENOTSUP);
	assert_int_equal(ask(&h, vm(1, 513, 1), &a), -ENOTSUP);
	assert_non_null(strstr(h.err.msg, "at most 512 vCPUs"));
	request.supplemental_io = 4294967295;
	assert_int_equal(ask(&h, request, &a), -ENOTSUP);
	assert_non_null(strstr(h.err.msg, "supplementalPool"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vcpus_get_cpu_numbers),
		cmocka_unit_test(second_vm_gets_others_or_nothing),
		cmocka_unit_test(emulator_gets_one_cpu_more),
		cmocka_unit_test(io_threads_get_cpus_of_their_own),
		cmocka_unit_test(emulator_completes_cores),
		cmocka_unit_test(odd_vcpus_on_whole_cores_are_refused),
		cmocka_unit_test(full_pcpus_only_never_breaks_a_core),
		cmocka_unit_test(guest_siblings_need_host_siblings),
		cmocka_unit_test(siblings_are_looked_for_elsewhere),
		cmocka_unit_test(loose_threads_serve_the_emulator),
		cmocka_unit_test(policy_none_refuses_and_says_so),
		cmocka_unit_test(refusal_names_numbers_and_holders),
		cmocka_unit_test(numa_policies),
		cmocka_unit_test(requests_without_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
