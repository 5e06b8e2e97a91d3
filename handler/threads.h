// SPDX-License-Identifier: Apache-2.0
/* Which host threads are a VM's: the launcher names them, the kernel says whether that is true. */
#pragma once

#include "handler/pod.h"

/*
 * reply: the launcher's, with "qemuPid" and "vcpus" in numbers of its own pid namespace. Sets
 * pod->qemu_pid and pod->vcpu_tids to the host's numbers: found through NSpid below the recorded PID 1,
 * each one in the pod's cgroups, as many as the VM has vCPUs. Anything else is an error. QEMU is then
 * watched (handler/launcher.h).
 */
int threads_find(struct pod *pod, const json_t *reply, struct err *err);

/* The host's number of QEMU's thread of that inner number; 0: it has none such. */
pid_t threads_host(const struct pod *pod, const json_t *inner);
