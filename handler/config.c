// SPDX-License-Identifier: Apache-2.0
#include "handler/config.h"

#include "handler/cpuset.h"

#include "lib/cpus.h"
#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>

#define KUBELET_KIND "kubeletconfigurations.kubelet.config.k8s.io"

static int policy_of(struct handler *h, const json_t *kubelet, struct cpu_policy *ret,
		     struct err *err)
{
	static const enum topology_manager_policy topology[] = {
		[TOPOLOGY_NONE] = TOPOLOGY_MANAGER_NONE,
		[TOPOLOGY_BEST_EFFORT] = TOPOLOGY_MANAGER_BEST_EFFORT,
		[TOPOLOGY_RESTRICTED] = TOPOLOGY_MANAGER_RESTRICTED,
		[TOPOLOGY_SINGLE] = TOPOLOGY_MANAGER_SINGLE_NUMA_NODE,
	};
	_cleanup_(kubelet_config_done) struct kubelet_config cfg = {0};
	struct cpu_policy policy = {0};
	int r;

	if (!kubelet) {
		*ret = policy;
		return 0;
	}
	r = kubelet_config_decode(kubelet, &cfg, err);
	if (r < 0)
		return r;
	policy.manager = cfg.cpu_manager_static ? CPU_MANAGER_STATIC : CPU_MANAGER_NONE;
	policy.topology = topology[cfg.topology];
	policy.full_pcpus_only = cfg.full_pcpus_only;
	if (cfg.reserved_cpus && cpus_parse(cfg.reserved_cpus, &policy.reserved) < 0)
		return err_set(err, -EINVAL,
			       "reservedSystemCPUs: '%s' is no CPU list such as 0-1,4",
			       cfg.reserved_cpus);
	/* the kubelet does not start either: somebody has to run everything else */
	if (cfg.cpu_manager_static && !CPU_COUNT(&policy.reserved))
		return err_set(err, -EINVAL,
			       "reservedSystemCPUs: cpuManagerPolicy static needs at least one CPU "
			       "that is never exclusive, such as reservedSystemCPUs: \"0\"");
	r = cpu_policy_check(&policy, &h->topology, err);
	if (r == 0)
		*ret = policy;
	return r;
}

static bool same_policy(const struct cpu_policy *a, const struct cpu_policy *b)
{
	return a->manager == b->manager && a->topology == b->topology &&
	       a->full_pcpus_only == b->full_pcpus_only && CPU_EQUAL(&a->reserved, &b->reserved);
}

int config_check_kubelet(struct handler *h, const json_t *kubelet, struct err *err)
{
	_cleanup_(cpuset_holders_done) struct cpu_holders holders = {0};
	struct cpu_policy policy;
	int r = policy_of(h, kubelet, &policy, err);

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

static int add_all(struct handler *h, const char *kind, struct cluster_config *cfg, struct err *err)
{
	_cleanup_json_ json_t *list = NULL;
	int r = store_list(h->store, kind, NULL, &list, err);
	json_t *object;
	size_t i;

	json_array_foreach (list, i, object)
		if (r == 0)
			r = cluster_config_add(cfg, object, err);
	return r;
}

int config_load(struct handler *h, struct err *err)
{
	_cleanup_json_ json_t *kubelets = NULL;
	struct cluster_config cluster = {0};
	struct cpu_policy policy;
	int r = add_all(h, "kubevirts.kubevirt.io", &cluster, err);

	if (r == 0)
		r = add_all(h, "hyperconvergeds.hco.kubevirt.io", &cluster, err);
	if (r == 0)
		r = store_list(h->store, KUBELET_KIND, NULL, &kubelets, err);
	if (r == 0) /* a singleton: the first one is the only one */
		r = policy_of(h, json_array_get(kubelets, 0), &policy, err);
	h->config_err = (struct err){0};
	if (r < 0) {
		(void)err_set(&h->config_err, r, "configuration: %s", err ? err->msg : "damaged");
		return r;
	}
	h->cluster = cluster;
	h->policy = policy;
	return 0;
}
