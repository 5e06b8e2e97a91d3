// SPDX-License-Identifier: Apache-2.0
/* Parts of the v2 backend that call each other. Internal to cgroups/. */
#pragma once

#include "cgroups/cgroup.h"
#include "cgroups/group.h"

/*
 * Which of the two forms this pod has: NODE_SIDE, a partition of its own, when that group is there;
 * else NODE_POD. The kernel is asked, nothing is remembered.
 */
int v2_base(const struct tree *t, const char *uid, enum tree_node *ret, struct err *err);

/* The threaded child of a pod of that form. */
struct group v2_child(const struct tree *t, const char *uid, enum tree_node base,
		      enum cgroup_place place);

/* The pod's groups exist already and get CPUs, nodes and partitions; each is read back. */
int v2_cpuset_setup(struct tree *t, const struct cgroup_pod_spec *spec, enum tree_node base,
		    struct err *err);
int v2_cpuset_set_emu(struct tree *t, const char *uid, const cpu_set_t *cpus, struct err *err);

/* Before anything is made: -ENOTSUP says what stands in the way of a partition, a group by its name. */
int v2_cpuset_check(struct tree *t, const struct cgroup_pod_spec *spec, struct err *err);

/*
 * -ENOTSUP names a group beside the pod's whose cpuset.cpus has some of these CPUs, so that no partition
 * can have them. uid NULL: groups of pods are passed over.
 */
int v2_cpuset_beside(struct tree *t, const char *uid, const cpu_set_t *cpus, struct err *err);

/* As cgroup_partition_try. */
int v2_partition_try(struct tree *t, struct err *err);

/* As cgroup_pod_repair. */
int v2_cpuset_repair(struct tree *t, const char *uid, const cpu_set_t *emu, const cpu_set_t *vcpu,
		     struct err *err);

/* Give the CPUs of a partition back now. For a pod without tasks, right before it is removed. */
void v2_cpuset_release(struct tree *t, const char *uid);

int v2_read(struct tree *t, const char *uid, json_t **ret, struct err *err);
