// SPDX-License-Identifier: Apache-2.0
#include "handler/settings.h"

#include "lib/cpus.h"
#include "lib/json.h"

#include <errno.h>

#define KUBELET_KIND "kubeletconfigurations.kubelet.config.k8s.io"

int settings_policy(const struct cpu_topology *cpus, const json_t *kubelet, struct cpu_policy *ret,
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
	r = cpu_policy_check(&policy, cpus, err);
	if (r == 0)
		*ret = policy;
	return r;
}

static int add_all(struct store *store, const char *kind, struct cluster_config *cfg,
		   struct err *err)
{
	_cleanup_json_ json_t *list = NULL;
	int r = store_list(store, kind, NULL, &list, err);
	json_t *object;
	size_t i;

	json_array_foreach (list, i, object)
		if (r == 0)
			r = cluster_config_add(cfg, object, err);
	return r;
}

int settings_read(struct store *store, const struct cpu_topology *cpus,
		  struct cluster_config *ret_cluster, struct cpu_policy *ret_policy,
		  struct err *err)
{
	_cleanup_json_ json_t *kubelets = NULL;
	struct cluster_config cluster = {0};
	struct cpu_policy policy;
	int r = add_all(store, "kubevirts.kubevirt.io", &cluster, err);

	if (r == 0)
		r = add_all(store, "hyperconvergeds.hco.kubevirt.io", &cluster, err);
	if (r == 0)
		r = store_list(store, KUBELET_KIND, NULL, &kubelets, err);
	if (r == 0) /* a singleton: the first one is the only one */
		r = settings_policy(cpus, json_array_get(kubelets, 0), &policy, err);
	if (r < 0)
		return r;
	*ret_cluster = cluster;
	*ret_policy = policy;
	return 0;
}
