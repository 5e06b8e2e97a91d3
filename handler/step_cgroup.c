// SPDX-License-Identifier: Apache-2.0
/* Step cgroup: the pod's groups with limits, device allowlist and cpusets, read back. */
#include "handler/steps.h"

#include "handler/cpuset.h"
#include "handler/podlimits.h"

#include "lib/json.h"
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

/* Annotation virtpod.io/exclusivity: kernel refuses a start that only our ledger would protect. */
static int require_kernel_exclusivity(const struct pod *pod, struct err *err)
{
	_cleanup_json_ json_t *state = NULL;
	int r = cgroup_pod_read(pod->h->cgroups, pod->record.uid, &state, err);

	if (r < 0)
		return r;
	if (str_eq(json_str(state, "exclusivity"), "kernel"))
		return 0;
	return err_set(
		err, -ENOTSUP,
		"virtpod.io/exclusivity: kernel was asked, but the kernel does not keep other "
		"cpusets off these CPUs: some other cpuset holds them; free them there, or take "
		"the annotation away");
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
	r = cgroup_pod_create(pod->h->cgroups, &spec, err);
	if (r == 0 && plan->dedicated_cpus && plan->exclusivity_kernel)
		r = require_kernel_exclusivity(pod, err);
	return r;
}

int undo_cgroup(struct pod *pod, struct err *err)
{
	struct err kill = {0};

	/* PID 1 is gone and took its namespace with it; this is for what a layer switched off let live */
	if (cgroup_pod_kill(pod->h->cgroups, pod->record.uid, &kill) < 0 && kill.code != -ENOTSUP)
		return err_set(err, kill.code, "%s", kill.msg);
	return cgroup_pod_destroy(pod->h->cgroups, pod->record.uid, err);
}
