// SPDX-License-Identifier: Apache-2.0
/*
 * v1's exclusive cpuset for vCPU threads, and what it asks of the groups beside it. v2 has nothing of
 * it, which is what is tested there; its partitions are in test_partition.c. Needs two CPUs.
 */
#include "tests/unit/cgroups/cpuset.h"

static void test_exclusivity(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec shared = two_cpu_spec(UID_B, false);
	struct cgroup_pod_spec dedicated = two_cpu_spec(UID_A, true);
	cpu_set_t first = one(0), both = first;
	struct err err = {0};

	/* a sibling that overlaps: the ledger's word only */
	CPU_SET(last_cpu, &both);
	shared.emu = both;
	fix_create(f, &shared);
	assert_true(exclusivity_is(f, UID_B, NULL));
	dedicated.exclusive = true;
	assert_int_equal(cgroup_pod_create(f->host, &dedicated, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, "other cpuset holds them"));
	err_clear(&err);
	assert_false(fix_group_there("cpuset", "." UID_A ".vcpu"));
	dedicated.exclusive = false;
	fix_create(f, &dedicated);
	assert_true(exclusivity_is(f, UID_A, "ledger"));
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	dedicated.exclusive = true;

	/* the shared pool shrinks first, as a handler does it: then it is the kernel's */
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_B, &first, &err), 0);
	fix_create(f, &dedicated);
	assert_true(exclusivity_is(f, UID_A, "kernel"));
	assert_string_equal(fix_file("cpuset", "." UID_A ".vcpu", "cpuset.cpu_exclusive"), "1");

	/* and then nobody else gets that CPU: neither a pool that grows nor a new pod */
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_B, &both, &err), -EINVAL);
	err_clear(&err);
	assert_string_equal(fix_file("cpuset", "/pod-" UID_B, "cpuset.cpus"), "0");
	assert_int_equal(cgroup_pod_destroy(f->host, UID_B, &err), 0);
	assert_true(cgroup_pod_create(f->host, &shared, &err) < 0);
	assert_false(fix_group_there("cpuset", "/pod-" UID_B));
	assert_true(exclusivity_is(f, UID_A, "kernel"));
}

/* Our top group holds what its pods have and gives back what they leave. */
static void test_top_group_follows_its_pods(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec a = two_cpu_spec(UID_A, false), b = two_cpu_spec(UID_B, false);
	struct err err = {0};
	char last[16];

	(void)snprintf(last, sizeof last, "%d", last_cpu);
	b.emu = one(last_cpu);
	fix_create(f, &a);
	assert_string_equal(fix_file("cpuset", "", "cpuset.cpus"), "0");
	fix_create(f, &b);
	assert_string_not_equal(fix_file("cpuset", "", "cpuset.cpus"), "0");
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	assert_string_equal(fix_file("cpuset", "", "cpuset.cpus"), last);
}

/* The CPUs of vCPUs alone can't be kept: the pod's other threads are in the pool of all. */
static void test_vcpus_alone_are_not_for_v2(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = two_cpu_spec(UID_A, true);
	struct err err = {0};
	char left[512];

	spec.exclusive = true;
	assert_int_equal(cgroup_pod_create(f->host, &spec, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, "isolateEmulatorThread"));
	assert_false(fix_find_group(left, sizeof left));
	spec.exclusive = false;
	fix_create(f, &spec);
	assert_true(exclusivity_is(f, UID_A, "ledger"));
	/* no file for it, and the vCPUs' group is inside the pod's */
	assert_int_equal(access(fix_path("", "/pod-" UID_A "/vcpu", "cpuset.cpu_exclusive"), F_OK),
			 -1);
	assert_true(fix_group_there("", "/pod-" UID_A "/vcpu"));
	assert_false(fix_group_there("", "." UID_A));
}

/* An empty set shrinks by itself beside a partition; so it stays empty, whatever the pods have. */
static void test_top_group_stays_empty_on_v2(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec a = two_cpu_spec(UID_A, true), b = two_cpu_spec(UID_B, false);
	cpu_set_t both = one(0);
	struct err err = {0};

	CPU_SET(last_cpu, &both);
	fix_create(f, &a);
	fix_create(f, &b);
	assert_string_equal(fix_file("", "", "cpuset.cpus"), "");
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, UID_B, &both, &err), 0);
	assert_string_equal(fix_file("", "", "cpuset.cpus"), "");
	assert_string_equal(fix_file("", "/pod-" UID_A, "cpuset.cpus"), "");
}

#define T(name) cmocka_unit_test_setup_teardown(name, fix_setup, fix_teardown)

static int run(void)
{
	const struct CMUnitTest v1[] = {
		T(test_exclusivity),
		T(test_top_group_follows_its_pods),
	};
	const struct CMUnitTest v2[] = {
		T(test_vcpus_alone_are_not_for_v2),
		T(test_top_group_stays_empty_on_v2),
	};

	if (!have_cpus(2))
		return 1;
	return fix_v2 ? cmocka_run_group_tests(v2, NULL, NULL)
		      : cmocka_run_group_tests(v1, NULL, NULL);
}

int main(void)
{
	return fix_main(run);
}
