// SPDX-License-Identifier: Apache-2.0
/*
 * What differs between kinds of hosts, behind cgroup.h. Internal to cgroups/. Uids and specs were
 * checked before; the contracts are those of the functions of the same name in cgroup.h.
 */
#pragma once

#include "cgroups/cgroup.h"
#include "cgroups/tree.h"

struct cgroup_ops {
	const char *mode;
	int (*create)(struct tree *t, const struct cgroup_pod_spec *spec, struct err *err);
	int (*enter)(struct tree *t, const char *uid, bool born, struct err *err);
	int (*birthplace)(struct tree *t, const char *uid, int *ret_fd, struct err *err);
	int (*place)(struct tree *t, const char *uid, pid_t tid, enum cgroup_place place,
		     struct err *err);
	int (*set_emu_cpus)(struct tree *t, const char *uid, const cpu_set_t *cpus,
			    struct err *err);
	int (*read)(struct tree *t, const char *uid, json_t **ret, struct err *err);
	int (*repair)(struct tree *t, const char *uid, const cpu_set_t *emu, const cpu_set_t *vcpu,
		      struct err *err);			  /* NULL: no partitions */
	void (*release)(struct tree *t, const char *uid); /* before it is removed; NULL: nothing */
	int (*settle)(struct tree *t, struct err *err); /* after a pod was removed; NULL: nothing */
};

extern const struct cgroup_ops cgroup_v1_ops;
extern const struct cgroup_ops cgroup_v2_ops;
