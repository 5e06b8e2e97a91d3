// SPDX-License-Identifier: Apache-2.0
/*
 * Threaded groups of the cgroup2 tree, in which the threads of one process can sit apart. Internal
 * to cgroups/. Making the first one turns the pod's group into a "domain threaded" one, whose
 * other controllers (memory) then act on the pod as a whole (cgroup-v2.rst, "Threads").
 */
#pragma once

#include "cgroups/group.h"

/* Make a child group (…_EMU or …_VCPU) of an existing pod and turn it threaded; read back. */
int threaded_make(const struct tree *t, const char *uid, enum tree_node node, struct err *err);

/*
 * Move one thread (host tid) there and read back. Its process must be in the pod already: the
 * kernel says EOPNOTSUPP for one from another domain.
 */
int threaded_move(const struct tree *t, const char *uid, enum tree_node node, pid_t tid,
		  struct err *err);
