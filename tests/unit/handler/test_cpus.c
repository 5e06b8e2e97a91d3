// SPDX-License-Identifier: Apache-2.0
/*
 * Exclusive CPUs: step cpus and its undo, who holds what, the shared pool that pods and the handler
 * follow, and the policy that may not change meanwhile.
 */
#include "tests/unit/handler/lab.h"

#include "handler/config.h"
#include "handler/cpuset.h"
#include "handler/hostcpus.h"
#include "handler/steps.h"

#include "lib/cpus.h"

#define KUBELET "kubeletconfigurations.kubelet.config.k8s.io"
#define FIRST	pod_step_index("cpus")

/* A VM that asks for n dedicated CPUs; its walk has come to step cpus. */
static struct pod *new_pod(struct lab *l, const char *uid, const char *name, unsigned n)
{
	struct pod *pod = lab_pod(l, uid, name);

	pod->plan = xcalloc(1, sizeof *pod->plan);
	pod->plan->sockets = pod->plan->threads = 1;
	pod->plan->cores = n;
	pod->plan->dedicated_cpus = true;
	pod->record.step = FIRST;
	return pod;
}

static int take(struct lab *l, struct pod *pod)
{
	err_clear(&l->err);
	assert_int_equal(store_pod_put(l->h.store, &pod->record, &l->err), 0);
	return step_cpus(pod, &l->err);
}

static void must_take(struct lab *l, struct pod *pod)
{
	if (take(l, pod) < 0)
		fail_msg("%s", l->err.msg);
}

static void undo(struct lab *l, struct pod *pod)
{
	err_clear(&l->err);
	if (undo_cpus(pod, &l->err) < 0)
		fail_msg("%s", l->err.msg);
}

static const char *shared(struct lab *l)
{
	static char text[CPUS_TEXT_MAX];
	cpu_set_t set;

	assert_int_equal(cpuset_shared(&l->h, &set, &l->err), 0);
	return cpus_format(&set, text);
}

static const char *held(struct lab *l, const char *uid)
{
	static char text[CPUS_TEXT_MAX];
	struct cpu_assignment cpus;

	assert_int_equal(store_cpus_of(l->h.store, uid, &cpus, &l->err), 0);
	return cpus_format(&cpus.all, text);
}

static int setup(void **state)
{
	struct lab *l;

	(void)lab_setup(state); /* eight CPUs */
	l = *state;
	l->h.policy.manager = CPU_MANAGER_STATIC;
	CPU_SET(0, &l->h.policy.reserved);
	return 0;
}

static void test_step(void **state)
{
	struct lab *l = *state;
	struct pod *a = new_pod(l, UID_A, "a", 2), *b = new_pod(l, UID_B, "b", 6);

	must_take(l, a);
	assert_int_equal(a->cpus.n_vcpus, 2);
	assert_string_equal(held(l, UID_A), "1-2");
	assert_string_equal(shared(l), "0,3-7");
	assert_int_equal(take(l, b), -EBUSY);
	assert_non_null(strstr(l->err.msg, "default/a"));
	undo(l, b);
	assert_string_equal(held(l, UID_A), "1-2"); /* its undo is its own */
	undo(l, a);
	undo(l, a);
	assert_string_equal(held(l, UID_A), "");
	assert_string_equal(shared(l), "0-7");
	must_take(l, b);
}

static void test_none_asked(void **state)
{
	struct lab *l = *state;
	struct pod *a = new_pod(l, UID_A, "a", 2);

	a->plan->dedicated_cpus = false;
	must_take(l, a);
	assert_string_equal(held(l, UID_A), "");
	assert_string_equal(shared(l), "0-7");
	undo(l, a);
}

/* After kill -9: undone by the ledger, from a pod that knows nothing but its uid. */
static void test_undo_from_ledger(void **state)
{
	struct lab *l = *state;
	struct pod *a = new_pod(l, UID_A, "a", 2);

	must_take(l, a);
	pod_free(a);
	a = lab_pod(l, UID_A, "a");
	assert_string_equal(shared(l), "0,3-7");
	undo(l, a);
	assert_string_equal(shared(l), "0-7");
}

/* What another root of this host holds is neither given nor shared. */
static void test_other_root(void **state)
{
	struct lab *l = *state, *other = lab_open("pack:1 core:8 pu:1");
	struct pod *a = new_pod(l, UID_A, "a", 3);
	cpu_set_t theirs;

	free((char *)(uintptr_t)other->h.cpus_file);
	other->h.cpus_file = xstrdup(l->h.cpus_file);
	assert_int_equal(cpus_parse("1-4", &theirs), 0);
	assert_int_equal(hostcpus_take(&other->h, UID_B, "default/b", &theirs, &l->err), 0);
	assert_string_equal(shared(l), "0,5-7");
	must_take(l, a);
	assert_string_equal(held(l, UID_A), "5-7");
	assert_int_equal(take(l, new_pod(l, UID_B, "c", 1)), -EBUSY);
	assert_non_null(strstr(l->err.msg, other->root)); /* and it is said who */
	lab_close(other);
}

/* A list of the host's that can't be trusted gives no CPU, and what was taken before is given back. */
static void test_damaged_list(void **state)
{
	struct lab *l = *state;
	struct pod *a = new_pod(l, UID_A, "a", 2);

	assert_int_equal(file_replace_at(AT_FDCWD, l->h.cpus_file, "x", 1, 0600), 0);
	assert_int_equal(take(l, a), -EBADMSG);
	assert_int_equal(unlink(l->h.cpus_file), 0);
	undo(l, a);
	assert_string_equal(held(l, UID_A), "");
}

/* --- pods and the handler follow ------------------------------------------------------------- */

static const char *emu_cpus(struct lab *l, const char *uid)
{
	static char text[64];
	json_t *state = NULL;

	assert_int_equal(cgroup_pod_read(l->h.cgroups, uid, &state, &l->err), 0);
	(void)snprintf(text, sizeof text, "%s", json_str(state, "cpuset.emu.cpus"));
	json_decref(state);
	return text;
}

static void make_groups(struct lab *l, struct pod *pod, const char *cpus)
{
	struct cgroup_pod_spec spec = {.uid = pod->record.uid};

	assert_int_equal(cpus_parse(cpus, &spec.emu), 0);
	if (cgroup_pod_create(l->h.cgroups, &spec, &l->err) < 0)
		fail_msg("%s", l->err.msg);
	pod->record.step = pod_step_index("net");
}

static const char *own_cpus(void)
{
	static char text[CPUS_TEXT_MAX];
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
	return cpus_format(&set, text);
}

/* On this machine's first two CPUs: CPU 1 is taken by one VM, the others and the handler leave it. */
static void test_others_leave(void **state)
{
	struct lab *l = lab_open(NULL);
	struct pod *plain = lab_pod(l, UID_B, "plain"), *a = new_pod(l, UID_A, "a", 1);
	cpu_set_t before;

	assert_true(l->h.topology.n >= 2);
	l->h.topology.n = 2;
	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	l->h.policy.manager = CPU_MANAGER_STATIC;
	CPU_SET(0, &l->h.policy.reserved);
	make_groups(l, plain, "0-1");
	must_take(l, a);
	assert_string_equal(emu_cpus(l, UID_B), "0");
	assert_string_equal(own_cpus(), "0");
	undo(l, a);
	assert_string_equal(emu_cpus(l, UID_B), "0-1");
	assert_string_equal(own_cpus(), "0-1");
	assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
	lab_close(l);
	(void)state;
}

/* A pod with an emulator CPU of its own stays on it; one whose groups have gone is no hindrance. */
static void test_not_moved(void **state)
{
	struct lab *l = lab_open(NULL);
	struct pod *own = new_pod(l, UID_B, "own", 1), *gone = lab_pod(l, UID_A, "gone");
	cpu_set_t before;

	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	make_groups(l, own, "1");
	own->plan->isolate_emulator = true;
	gone->record.step = pod_step_index("net");
	assert_int_equal(cpuset_apply_shared(&l->h, &l->err), 0);
	assert_string_equal(emu_cpus(l, UID_B), "1");
	assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
	lab_close(l);
	(void)state;
}

/* --- policy ---------------------------------------------------------------------------------- */

static json_t *kubelet(const char *policy, const char *reserved)
{
	return json_pack("{s:s, s:s, s:{s:s}, s:s, s:s}", "apiVersion",
			 "kubelet.config.k8s.io/v1beta1", "kind", "KubeletConfiguration",
			 "metadata", "name", "default", "cpuManagerPolicy", policy,
			 "reservedSystemCPUs", reserved);
}

static int check(struct lab *l, const char *policy, const char *reserved)
{
	_cleanup_json_ json_t *k = kubelet(policy, reserved);

	err_clear(&l->err);
	return config_check_kubelet(&l->h, k, &l->err);
}

static void test_check_kubelet(void **state)
{
	struct lab *l = *state;

	assert_int_equal(check(l, "static", "0"), 0);
	assert_int_equal(check(l, "static", "0-3,7"), 0);
	assert_int_equal(check(l, "none", ""), 0);
	assert_int_equal(check(l, "static", ""), -EINVAL);
	assert_non_null(strstr(l->err.msg, "reservedSystemCPUs: \"0\""));
	assert_int_equal(check(l, "static", "8"), -EINVAL); /* there are 0 to 7 */
	assert_int_equal(check(l, "static", "0-"), -EINVAL);
	assert_int_equal(check(l, "often", "0"), -EINVAL);
	assert_int_equal(config_check_kubelet(&l->h, NULL, &l->err), 0);
}

static void test_policy_is_held(void **state)
{
	struct lab *l = *state, *other = lab_open("pack:1 core:8 pu:1");

	free((char *)(uintptr_t)other->h.cpus_file);
	other->h.cpus_file = xstrdup(l->h.cpus_file);
	must_take(l, new_pod(l, UID_A, "a", 1));
	assert_int_equal(check(l, "static", "0"), 0); /* the same again changes nothing */
	assert_int_equal(check(l, "static", "0,5"), -EBUSY);
	assert_non_null(strstr(l->err.msg, "default/a"));
	assert_int_equal(check(l, "none", "0"), -EBUSY);
	err_clear(&l->err);
	assert_int_equal(config_check_kubelet(&l->h, NULL, &l->err), -EBUSY);
	assert_int_equal(check(other, "static", "0"), 0); /* another root, another policy */
	undo(l, pod_find(&l->h, UID_A));
	assert_int_equal(check(l, "static", "0,5"), 0);
	lab_close(other);
}

static void put(struct lab *l, const char *kind, const char *name, json_t *object)
{
	assert_int_equal(store_put(l->h.store, kind, "", name, object, &l->err), 0);
	json_decref(object);
}

static json_t *emulation(const char *kind, const char *version, const char *path)
{
	json_t *o = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", version, "kind", kind,
			      "metadata", "name", "x");

	(void)json_path_set(o, path, json_true());
	return o;
}

static void test_load(void **state)
{
	struct lab *l = *state;
	struct cpu_policy none = {0};

	l->h.policy = none;
	assert_int_equal(config_load(&l->h, &l->err), 0);
	assert_false(l->h.cluster.use_emulation);
	assert_int_equal(l->h.policy.manager, CPU_MANAGER_NONE);
	put(l, KUBELET, "default", kubelet("static", "0,3"));
	put(l, "kubevirts.kubevirt.io", "x",
	    emulation("KubeVirt", "kubevirt.io/v1",
		      "spec.configuration.developerConfiguration.useEmulation"));
	assert_int_equal(config_load(&l->h, &l->err), 0);
	assert_true(l->h.cluster.use_emulation);
	assert_int_equal(l->h.policy.manager, CPU_MANAGER_STATIC);
	assert_int_equal(CPU_COUNT(&l->h.policy.reserved), 2);
	/* gone again: what is in force follows */
	assert_int_equal(store_delete(l->h.store, "kubevirts.kubevirt.io", "", "x", &l->err), 0);
	assert_int_equal(config_load(&l->h, &l->err), 0);
	assert_false(l->h.cluster.use_emulation);
	/* an object that says nonsense leaves what was in force, all of it */
	put(l, "kubevirts.kubevirt.io", "x",
	    emulation("KubeVirt", "kubevirt.io/v1",
		      "spec.configuration.developerConfiguration.useEmulation"));
	put(l, KUBELET, "default", kubelet("static", "77"));
	assert_int_equal(config_load(&l->h, &l->err), -EINVAL);
	assert_false(l->h.cluster.use_emulation);
	assert_int_equal(CPU_COUNT(&l->h.policy.reserved), 2);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, lab_teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_step),
		TEST(test_none_asked),
		TEST(test_undo_from_ledger),
		TEST(test_other_root),
		TEST(test_damaged_list),
		cmocka_unit_test(test_others_leave),
		cmocka_unit_test(test_not_moved),
		TEST(test_check_kubelet),
		TEST(test_policy_is_held),
		TEST(test_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}
