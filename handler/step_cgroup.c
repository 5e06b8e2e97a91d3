// SPDX-License-Identifier: Apache-2.0
/* Step cgroup: the pod's groups with limits, device allowlist and cpusets, read back. */
#include "handler/steps.h"

#include "handler/cpuset.h"
#include "handler/exclusive.h"
#include "handler/podlimits.h"

#include "lib/cpus.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>

static void choose_cpus(const struct pod *pod, const cpu_set_t *shared,
			struct cgroup_pod_spec *spec)
{
	spec->emu = *shared;
	if (!pod->plan->dedicated_cpus)
		return;
	if (pod->plan->isolate_emulator)
		spec->emu = pod->cpus.emulator;
	for (unsigned i = 0; i < pod->cpus.n_vcpus; i++)
		CPU_SET(pod->cpus.vcpu[i], &spec->vcpu);
}

/*
 * With CPUs of its own the pod gets the kernel's exclusivity where that can be had, else the ledger's;
 * annotation virtpod.io/exclusivity: kernel refuses the latter.
 */
static int create(struct pod *pod, struct cgroup_pod_spec *spec, struct err *err)
{
	struct err why = {0};
	int r;

	spec->exclusive = pod->plan->dedicated_cpus;
	r = cgroup_pod_create(pod->h->cgroups, spec, &why);
	if (r == -ENOTSUP && spec->exclusive && !pod->plan->exclusivity_kernel) {
		log_info("%s/%s: its CPUs are kept exclusive by virt-handler alone: %s",
			 pod->record.ns, pod->record.name, why.msg);
		spec->exclusive = false;
		return cgroup_pod_create(pod->h->cgroups, spec, err);
	}
	if (r == -ENOTSUP && spec->exclusive)
		return err_set(err, r,
			       "virtpod.io/exclusivity: kernel was asked: %s; or take the "
			       "annotation away",
			       why.msg);
	return r < 0 ? err_set(err, r, "%s", why.msg) : 0;
}

int step_cgroup(struct pod *pod, struct err *err)
{
	struct cgroup_device devices[PODLIMITS_DEVICES_MAX];
	struct cgroup_pod_spec spec = {.uid = pod->record.uid, .devices = devices};
	const struct plan *plan = pod->plan;
	cpu_set_t shared;
	int r = cpuset_shared(pod->h, &shared, err);

	if (r < 0)
		return r;
	if (plan->isolation.devices)
		spec.n_devices = podlimits_devices(plan, devices);
	else
		spec.devices = NULL; /* no allowlist at all */
	if (plan->isolation.limits) {
		spec.limits.memory_max = plan->memory_limit;
		spec.limits.pids_max = podlimits_pids(plan);
	}
	spec.limits.cpu_shares = plan->cpu_shares;
	if (plan->cpu_quota_us) {
		spec.limits.cpu_quota_us = plan->cpu_quota_us;
		spec.limits.cpu_period_us = 100000;
	}
	choose_cpus(pod, &shared, &spec);
	if (plan->memory_nodes)
		(void)cpus_parse(plan->memory_nodes, &spec.mems); /* placement.c's own list */
	spec.emu_own = plan->dedicated_cpus && plan->isolate_emulator;
	r = create(pod, &spec, err);
	return r < 0 ? r : exclusive_watch(pod, err);
}

int undo_cgroup(struct pod *pod, struct err *err)
{
	struct err kill = {0};

	exclusive_unwatch(pod);
	/* PID 1 is gone and took its namespace with it; this is for what a layer switched off let live */
	if (cgroup_pod_kill(pod->h->cgroups, pod->record.uid, &kill) < 0 && kill.code != -ENOTSUP)
		return err_set(err, kill.code, "%s", kill.msg);
	return cgroup_pod_destroy(pod->h->cgroups, pod->record.uid, err);
}
