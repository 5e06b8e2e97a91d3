// SPDX-License-Identifier: Apache-2.0
/* Parts of the v1 backend that call each other. Internal to cgroups/. */
#pragma once

#include "cgroups/cgroup.h"
#include "cgroups/tree.h"

/* The pod's cpuset groups exist already and get their CPUs and nodes; read back. */
int v1_cpuset_setup(struct tree *t, const struct cgroup_pod_spec *spec, struct err *err);
int v1_cpuset_set_emu(struct tree *t, const char *uid, const cpu_set_t *cpus, struct err *err);

/*
 * Give our top cpuset what the pods below it have, plus `extra` (NULL: nothing). It holds no more,
 * since a sibling that is cpu_exclusive must not overlap with it.
 */
int v1_cpuset_fit_top(struct tree *t, const cpu_set_t *extra, struct err *err);

int v1_read(struct tree *t, const char *uid, json_t **ret, struct err *err);
