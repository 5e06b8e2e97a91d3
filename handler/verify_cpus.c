// SPDX-License-Identifier: Apache-2.0
/* CPUs: the ledger's promise, the cpusets, and each thread's own mask, which must all say the same. */
#include "handler/verify_internal.h"

#include "lib/cpus.h"

#include <stdio.h>
#include <string.h>

static const char *accel_name(const struct verify *v)
{
	return v->p->plan->accel == ACCEL_KVM ? "kvm" : "tcg";
}

void verify_accel(struct verify *v)
{
	verify_equal(v, json_string(accel_name(v)), json_object_get(v->seen, "accel"),
		     "the accelerator");
}

/* "CPU 3/KVM": how QEMU names vCPU 3's thread with debug-threads=on. */
static bool named_vcpu(const char *name)
{
	const char *rest = name ? str_after(name, "CPU ") : NULL;
	size_t digits = rest ? strspn(rest, "0123456789") : 0;

	return digits && rest[digits] == '/';
}

static void check_role(struct verify *v, const json_t *process, const json_t *thread,
		       const char *who)
{
	bool is_vcpu = verify_is(thread, "role", "vcpu");
	const char *accel = v->p->plan->accel == ACCEL_KVM ? "KVM" : "TCG";

	(void)process;
	if (is_vcpu)
		verify_equal(v,
			     json_sprintf("CPU %llu/%s",
					  (unsigned long long)json_u64(thread, "vcpu", 0), accel),
			     json_object_get(thread, "name"), "%s name", who);
	else if (named_vcpu(json_str(thread, "name")))
		verify_differ(v, json_string("vcpu"), json_object_get(thread, "role"), "%s role",
			      who);
}

static unsigned count_vcpu(const struct verify *v, unsigned vcpu)
{
	const json_t *process, *thread;
	unsigned n = 0;
	size_t i, j;

	json_array_foreach (json_object_get(v->seen, "processes"), i, process) {
		json_array_foreach (json_object_get(process, "threads"), j, thread)
			if (verify_is(thread, "role", "vcpu") &&
			    json_u64(thread, "vcpu", PLAN_MAX_VCPUS) == vcpu)
				n++;
	}
	return n;
}

/* Each vCPU has one thread, by the number that was checked at the start and by its name. */
void verify_vcpu_threads(struct verify *v)
{
	for (unsigned i = 0; i < plan_vcpus(v->p->plan); i++) {
		_cleanup_json_ json_t *n = json_integer(count_vcpu(v, i));

		verify_equal(v, json_integer(1), n, "number of threads of vCPU %u", i);
	}
	verify_each_thread(v, check_role);
}

static void check_pin(struct verify *v, const json_t *process, const json_t *thread,
		      const char *who)
{
	uint64_t vcpu = json_u64(thread, "vcpu", PLAN_MAX_VCPUS);

	(void)process;
	if (!verify_is(thread, "role", "vcpu"))
		return;
	verify_equal(v,
		     vcpu < v->p->cpus.n_vcpus ? json_sprintf("%d", v->p->cpus.vcpu[vcpu])
					       : json_string("a CPU of the ledger"),
		     json_object_get(thread, "cpus"), "%s CPU mask", who);
}

void verify_vcpu_pins(struct verify *v)
{
	if (v->p->plan->dedicated_cpus)
		verify_each_thread(v, check_pin);
}

static void vcpu_set(const struct verify *v, cpu_set_t *ret)
{
	CPU_ZERO(ret);
	for (unsigned i = 0; i < v->p->cpus.n_vcpus; i++)
		CPU_SET(v->p->cpus.vcpu[i], ret);
}

static void set_of(const json_t *text, cpu_set_t *ret)
{
	CPU_ZERO(ret);
	if (json_is_string(text) && cpus_parse(json_string_value(text), ret) < 0)
		CPU_ZERO(ret);
}

static json_t *set_json(const cpu_set_t *set)
{
	char text[CPUS_TEXT_MAX];

	return json_string(cpus_format(set, text));
}

static bool common(const cpu_set_t *a, const cpu_set_t *b)
{
	cpu_set_t both;

	CPU_AND(&both, a, b);
	return CPU_COUNT(&both) > 0;
}

static void check_other(struct verify *v, const json_t *process, const json_t *thread,
			const char *who)
{
	const json_t *mask = json_object_get(thread, "cpus");
	cpu_set_t vcpus, cpus, outside;

	(void)process;
	if (verify_is(thread, "role", "vcpu"))
		return;
	vcpu_set(v, &vcpus);
	set_of(mask, &cpus);
	outside = cpus;
	cpus_minus(&outside, &v->p->cpus.emulator);
	if (v->p->plan->isolate_emulator && (!CPU_COUNT(&cpus) || CPU_COUNT(&outside)))
		verify_differ(v, set_json(&v->p->cpus.emulator), mask, "%s CPU mask", who);
	else if (!CPU_COUNT(&cpus) || common(&cpus, &vcpus))
		verify_differ(v, json_string("off the vCPUs' CPUs"), mask, "%s CPU mask", who);
}

void verify_other_threads(struct verify *v)
{
	if (v->p->plan->dedicated_cpus)
		verify_each_thread(v, check_other);
}

/* vhost's and KVM's alone may be in the groups, with the emulator's threads and their CPUs. */
void verify_kernel_threads(struct verify *v)
{
	const json_t *thread;
	size_t i;

	json_array_foreach (json_object_get(v->seen, "kernelThreads"), i, thread) {
		const char *name = json_str(thread, "name");
		char who[128];

		verify_thread_name(thread, who, sizeof who);
		if (!name || (!str_after(name, "vhost-") && !str_after(name, "kvm-")))
			verify_differ(v, json_string("vhost-… or kvm-…"),
				      json_object_get(thread, "name"), "%s of the kernel", who);
		if (v->p->plan->dedicated_cpus)
			check_other(v, NULL, thread, who);
		if (verify_listed(json_object_get(thread, "groups"), "vcpu"))
			verify_differ(v, json_string("emu"), json_object_get(thread, "groups"),
				      "%s groups", who);
	}
}

static void check_foreign(struct verify *v, const json_t *found, const char *what)
{
	cpu_set_t cpus;

	set_of(found, &cpus);
	for (unsigned i = 0; i < v->p->n_holders; i++)
		if (common(&cpus, &v->p->holders[i].cpus))
			verify_differ(v, json_sprintf("off the CPUs of %s", v->p->holders[i].name),
				      found, "%s", what);
}

/* The groups' CPUs: the vCPUs' own, the emulator's own or the shared pool, and never another VM's. */
void verify_cpusets(struct verify *v)
{
	const json_t *emu = json_get(v->seen, "cgroup.cpuset.emu.cpus");
	const json_t *vcpu = json_get(v->seen, "cgroup.cpuset.vcpu.cpus");
	cpu_set_t wanted, cpus;

	set_of(emu, &cpus);
	vcpu_set(v, &wanted);
	verify_equal(v, v->p->cpus.n_vcpus ? set_json(&wanted) : json_null(), vcpu,
		     "the vCPUs' cpuset");
	if (v->p->plan->isolate_emulator)
		verify_equal(v, set_json(&v->p->cpus.emulator), emu, "the pod's cpuset");
	else if (!CPU_COUNT(&cpus) || common(&cpus, &v->p->cpus.all))
		verify_differ(v, json_string("off the vCPUs' CPUs"), emu, "the pod's cpuset");
	check_foreign(v, emu, "the pod's cpuset");
}

/* As many rows as the plan asks for, none of them anybody else's. */
void verify_ledger(struct verify *v)
{
	const struct cpu_assignment *cpus = &v->p->cpus;
	const struct plan *plan = v->p->plan;
	unsigned wanted = plan->dedicated_cpus ? plan_vcpus(plan) : 0;
	_cleanup_json_ json_t *vcpus = json_integer(cpus->n_vcpus), *all = set_json(&cpus->all);
	_cleanup_json_ json_t *emulator = json_boolean(CPU_COUNT(&cpus->emulator) > 0);
	_cleanup_json_ json_t *in_one_set = json_boolean(true);
	cpu_set_t placed;

	vcpu_set(v, &placed);
	if ((unsigned)CPU_COUNT(&placed) != cpus->n_vcpus || common(&placed, &cpus->emulator))
		in_one_set = (json_decref(in_one_set), json_false());
	verify_equal(v, json_integer(wanted), vcpus, "number of vCPUs in the ledger");
	verify_equal(v, json_boolean(plan->dedicated_cpus && plan->isolate_emulator), emulator,
		     "a CPU of the emulator's own in the ledger");
	verify_equal(v, json_true(), in_one_set, "each CPU of the ledger in one set");
	check_foreign(v, all, "the VM's set of CPUs in the ledger");
}

/* Other pods' cpusets as the kernel has them, whatever any ledger says. */
void verify_overlaps(struct verify *v)
{
	const json_t *overlap;
	size_t i;

	json_array_foreach (json_get(v->seen, "cpus.overlaps"), i, overlap) {
		const char *vm = json_str(overlap, "vm"), *pod = json_str(overlap, "pod");

		verify_differ(v, json_null(), json_object_get(overlap, "cpus"),
			      "dedicated CPUs in the cpuset of %.100s",
			      vm    ? vm
			      : pod ? pod
				    : "a pod");
	}
}

void verify_exclusivity(struct verify *v)
{
	const struct plan *plan = v->p->plan;
	const json_t *partition = json_get(v->seen, "cgroup.cpuset.partition");

	/* a partition that was made is to be one still, whether it was asked for or not */
	if (json_is_object(partition)) {
		verify_equal(v, json_string("root"), json_object_get(partition, "pod"),
			     "the pod's partition");
		verify_equal(v, json_string("isolated"), json_object_get(partition, "vcpu"),
			     "the vCPUs' partition");
		verify_equal(v, set_json(&v->p->cpus.all), json_object_get(partition, "cpus"),
			     "the partition's CPUs");
	}
	if (plan->dedicated_cpus && plan->exclusivity_kernel)
		verify_equal(v, json_string("kernel"), json_object_get(v->seen, "exclusivity"),
			     "who keeps others off the CPUs");
}
