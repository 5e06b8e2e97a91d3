// SPDX-License-Identifier: Apache-2.0
/* Step cpus: exclusive CPUs, in the ledger before anything uses them. */
#include "handler/steps.h"

#include "handler/cpuset.h"
#include "handler/hostcpus.h"
#include "handler/placement.h"

#include "lib/cpus.h"
#include "lib/util.h"

#include <errno.h>
#include <time.h>

/* Their handlers hear of the claim at once (hostcpus_watch); twenty looks are two seconds. */
#define RETRY_USEC 100000
#define RETRIES	   20

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct pod *pod = userdata;
	struct foreign_task task;
	char text[CPUS_TEXT_MAX];
	struct err err = {0};
	int r = cgroup_find_foreign(pod->h->cgroups, &pod->cpus.all, &task, &err);

	(void)usec;
	if (r > 0 && ++pod->retries < RETRIES) {
		r = sd_event_source_set_time_relative(source, RETRY_USEC);
		if (r >= 0)
			r = sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
		if (r >= 0)
			return 0;
		(void)err_errno(&err, r, "step cpus: timer");
	} else if (r > 0) {
		r = err_set(
			&err, -EBUSY,
			"CPUs %.200s are in the cpuset of another root's VM (process %d), whose "
			"virt-handler does not give them up: let it run, or stop that VM",
			cpus_format(&task.cpus, text), task.pid);
	}
	pod->retry_timer = sd_event_source_disable_unref(pod->retry_timer);
	pod_step_done(pod, r, &err);
	return 0;
}

static int wait_for_others(struct pod *pod, struct err *err)
{
	struct foreign_task task;
	int r = cgroup_find_foreign(pod->h->cgroups, &pod->cpus.all, &task, err);

	if (r <= 0)
		return r;
	pod->retries = 0;
	r = sd_event_add_time_relative(pod->h->event, &pod->retry_timer, CLOCK_MONOTONIC,
				       RETRY_USEC, /* accuracy= */ 1000, on_retry, pod);
	return r < 0 ? err_errno(err, r, "step cpus: timer") : STEP_WAIT;
}

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
		return placement_decide(pod, err);
	r = cpuset_holders(pod->h, &holders, err);
	if (r == 0)
		r = cpu_allocate(&pod->h->topology, &pod->h->policy, holders.list, holders.n,
				 &request, &pod->cpus, err);
	if (r == 0) /* memory follows them; what it lacks refuses the start before they are taken */
		r = placement_decide(pod, err);
	if (r == 0)
		r = store_cpus_take(pod->h->store, pod->record.uid, &pod->cpus, err);
	if (r == 0)
		r = hostcpus_take(pod->h, pod->record.uid, vm, &pod->cpus.all, err);
	if (r == 0) /* everybody else leaves them before this VM comes */
		r = cpuset_apply_shared(pod->h, err);
	return r < 0 ? r : wait_for_others(pod, err);
}

int undo_cpus(struct pod *pod, struct err *err)
{
	struct err other = {0};
	struct cpu_assignment held;
	int r, q;

	pod->retry_timer = sd_event_source_disable_unref(pod->retry_timer);
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
