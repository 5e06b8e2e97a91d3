// SPDX-License-Identifier: Apache-2.0
/* Step cpus: exclusive CPUs, in the ledger before anything uses them. */
#include "handler/steps.h"

#include "handler/cpuset.h"
#include "handler/hostcpus.h"

#include "lib/util.h"

int step_cpus(struct pod *pod, struct err *err)
{
	_cleanup_(cpuset_holders_done) struct cpu_holders holders = {0};
	_cleanup_free_ char *vm = xasprintf("%s/%s", pod->record.ns, pod->record.name);
	const struct cpu_request request = {
		.sockets = pod->plan->sockets,
		.cores = pod->plan->cores,
		.threads = pod->plan->threads,
		.isolate_emulator = pod->plan->isolate_emulator,
	};
	int r;

	if (!pod->plan->dedicated_cpus)
		return 0;
	r = cpuset_holders(pod->h, &holders, err);
	if (r == 0)
		r = cpu_allocate(&pod->h->topology, &pod->h->policy, holders.list, holders.n,
				 &request, &pod->cpus, err);
	if (r == 0)
		r = store_cpus_take(pod->h->store, pod->record.uid, &pod->cpus, err);
	if (r == 0)
		r = hostcpus_take(pod->h, pod->record.uid, vm, &pod->cpus.all, err);
	if (r == 0) /* everybody else leaves them before this VM comes */
		r = cpuset_apply_shared(pod->h, err);
	return r;
}

int undo_cpus(struct pod *pod, struct err *err)
{
	struct err other = {0};
	struct cpu_assignment held;
	int r, q;

	r = store_cpus_of(pod->h->store, pod->record.uid, &held, err);
	if (r == 0 && !CPU_COUNT(&held.all))
		return 0;
	r = store_cpus_free(pod->h->store, pod->record.uid, err);
	q = hostcpus_free(pod->h, pod->record.uid, r < 0 ? &other : err);
	if (r == 0)
		r = q;
	q = cpuset_apply_shared(pod->h, r < 0 ? &other : err);
	return r < 0 ? r : q;
}
