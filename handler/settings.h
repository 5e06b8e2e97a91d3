// SPDX-License-Identifier: Apache-2.0
/* What configuration objects mean on a host with these CPUs; for the handler and for whoever looks. */
#pragma once

#include "handler/store.h"

#include "api/config.h"
#include "cpu/policy.h"

/* A KubeletConfiguration (NULL: the kubelet's defaults). -EINVAL: it does not fit this host. */
int settings_policy(const struct cpu_topology *cpus, const json_t *kubelet, struct cpu_policy *ret,
		    struct err *err);

/* All of a store's; outputs are untouched on an error. */
int settings_read(struct store *store, const struct cpu_topology *cpus,
		  struct cluster_config *ret_cluster, struct cpu_policy *ret_policy,
		  struct err *err);
