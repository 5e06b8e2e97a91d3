// SPDX-License-Identifier: Apache-2.0
#include "handler/cpuset.h"

#include "handler/exclusive.h"
#include "handler/hostcpus.h"
#include "handler/kthreads.h"

#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

static int add_own(struct handler *h, struct cpu_holders *holders, struct err *err)
{
	int r = 0;

	for (struct pod *p = h->pods; r == 0 && p; p = p->next) {
		struct cpu_assignment held;

		r = store_cpus_of(h->store, p->record.uid, &held, err);
		if (r == 0 && CPU_COUNT(&held.all)) {
			holders->list =
				xrealloc(holders->list, holders->n + 1, sizeof *holders->list);
			holders->list[holders->n++] = (struct cpu_holder){
				.name = xasprintf("%s/%s", p->record.ns, p->record.name),
				.cpus = held.all};
		}
	}
	return r;
}

static int collect(struct handler *h, bool others, struct cpu_holders *ret, struct err *err)
{
	struct cpu_holders holders = {0};
	int r = others ? hostcpus_others(h, &holders, err) : 0;

	if (r == 0)
		r = add_own(h, &holders, err);
	if (r < 0) {
		cpuset_holders_done(&holders);
		return r;
	}
	*ret = holders;
	return 0;
}

int cpuset_holders(struct handler *h, struct cpu_holders *ret, struct err *err)
{
	return collect(h, /* others= */ true, ret, err);
}

int cpuset_own_holders(struct handler *h, struct cpu_holders *ret, struct err *err)
{
	return collect(h, /* others= */ false, ret, err);
}

void cpuset_holders_done(struct cpu_holders *holders)
{
	for (unsigned i = 0; i < holders->n; i++)
		free((char *)(uintptr_t)holders->list[i].name);
	free(holders->list);
	*holders = (struct cpu_holders){0};
}

int cpuset_shared(struct handler *h, cpu_set_t *ret, struct err *err)
{
	_cleanup_(cpuset_holders_done) struct cpu_holders holders = {0};
	int r = cpuset_holders(h, &holders, err);

	if (r == 0)
		cpu_shared_pool(&h->topology, holders.list, holders.n, ret);
	return r;
}

static bool has_cgroup(const struct pod *pod)
{
	return pod->record.step > pod_step_index("cgroup");
}

int cpuset_apply_shared(struct handler *h, struct err *err)
{
	cpu_set_t shared;
	int first = cpuset_shared(h, &shared, err);

	if (first < 0)
		return first;
	/* our own thread leaves dedicated CPUs, too; children inherit it until their cpuset says more */
	if (sched_setaffinity(0, sizeof shared, &shared) < 0)
		log_warning("shared CPU pool: can't move the handler itself: %s", strerror(errno));
	if (h->has.kvm)
		kthreads_confine(&shared);
	for (struct pod *p = h->pods; p; p = p->next) {
		struct err why = {0};
		int r;

		if (!has_cgroup(p))
			continue;
		/* CPUs of the emulator's own don't change */
		r = p->plan && p->plan->isolate_emulator
			    ? 0
			    : cgroup_pod_set_emu_cpus(h->cgroups, p->record.uid, &shared, &why);
		if (r < 0 && r != -ENOENT && first == 0)
			first = err_set(err, r, "%s/%s: shared CPU pool: %s", p->record.ns,
					p->record.name, why.msg);
		exclusive_check(
			p); /* what it finds is that pod's affair, and nobody else's start */
	}
	return first;
}
