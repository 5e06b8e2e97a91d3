// SPDX-License-Identifier: Apache-2.0
/* A VMI into its plan. */
#pragma once

#include "api/config.h"
#include "api/nad.h"
#include "api/plan.h"

/* Looks up "namespace/name"; fills *ret (network_done) or fails with who is missing. */
typedef int (*plan_network_fn)(const char *ns_name, struct network *ret, void *arg,
			       struct err *err);

/* What the host has for guests. */
struct plan_host {
	bool kvm;	/* /dev/kvm works */
	bool vhost_net; /* /dev/vhost-net opens */
};

/*
 * vmi: admitted (api/admit.h), with its uid. -EOPNOTSUPP when KVM or vhost-net is needed and does not
 * work; otherwise what `network` fails with, or -EINVAL. Pure but for that call.
 */
int plan_make(const json_t *vmi, const struct cluster_config *cfg, const struct plan_host *host,
	      plan_network_fn network, void *arg, struct plan **ret, struct err *err);

/* Annotation virtpod.io/isolation ("seccomp=audit,user=off"); NULL or "": every layer on. */
int plan_isolation_parse(const char *text, struct plan_isolation *ret, struct err *err);
