// SPDX-License-Identifier: Apache-2.0
#include "handler/config.h"

#include "handler/cpuset.h"
#include "handler/settings.h"

#include "lib/util.h"

#include <errno.h>

static bool same_policy(const struct cpu_policy *a, const struct cpu_policy *b)
{
	return a->manager == b->manager && a->topology == b->topology &&
	       a->full_pcpus_only == b->full_pcpus_only && CPU_EQUAL(&a->reserved, &b->reserved);
}

int config_check_kubelet(struct handler *h, const json_t *kubelet, struct err *err)
{
	_cleanup_(cpuset_holders_done) struct cpu_holders holders = {0};
	struct cpu_policy policy;
	int r = settings_policy(&h->topology, kubelet, &policy, err);

	if (r < 0 || same_policy(&policy, &h->policy))
		return r;
	r = cpuset_own_holders(h, &holders, err); /* another root has a policy of its own */
	if (r < 0 || !holders.n)
		return r;
	return err_set(
		err, -EBUSY,
		"the CPU policy can't change while CPUs are held exclusively (by %s%s): stop "
		"these VMs first",
		holders.list[0].name, holders.n > 1 ? " and others" : "");
}

int config_load(struct handler *h, struct err *err)
{
	int r = settings_read(h->store, &h->topology, &h->cluster, &h->policy, err);

	h->config_err = (struct err){0};
	if (r < 0)
		(void)err_set(&h->config_err, r, "configuration: %s", err ? err->msg : "damaged");
	return r;
}
