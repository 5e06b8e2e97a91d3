// SPDX-License-Identifier: Apache-2.0
/*
 * Configuration objects into plain structs. Objects must have passed schema_check; what is decoded
 * here is checked here. Errors name field, value and what is right.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "lib/err.h"

/* From KubeVirt and HyperConverged objects. */
struct cluster_config {
	bool use_emulation; /* developerConfiguration.useEmulation: TCG where there is no KVM */
};

/* What one object adds to *cfg; both kinds may be there, either may switch emulation on. */
int cluster_config_add(struct cluster_config *cfg, const json_t *obj, struct err *err);

enum kubelet_topology { TOPOLOGY_NONE, TOPOLOGY_BEST_EFFORT, TOPOLOGY_RESTRICTED, TOPOLOGY_SINGLE };

/* From the KubeletConfiguration; all zero is the kubelet's default. */
struct kubelet_config {
	bool cpu_manager_static;
	char *reserved_cpus; /* owned; CPU list as written, or NULL */
	bool full_pcpus_only;
	enum kubelet_topology topology;
};

int kubelet_config_decode(const json_t *obj, struct kubelet_config *ret, struct err *err);
void kubelet_config_done(struct kubelet_config *c);
