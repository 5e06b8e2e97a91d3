// SPDX-License-Identifier: Apache-2.0
/*
 * System call allowlists of the pod (x86-64; other ABIs are killed). Filters are inherited: the
 * launcher's allows all that QEMU needs, QEMU's child adds its tighter one right before its execve,
 * and QEMU's own -sandbox comes on top. What isn't listed fails with ENOSYS, as in KubeVirt's profile
 * (pkg/virt-handler/seccomp), so that programs take their fallbacks; in audit mode it is logged and allowed.
 */
#pragma once

#include "lib/err.h"
#include "sandbox/layers.h"

/* Needs no_new_privs or CAP_SYS_ADMIN. Two filters: the allowlist, and ioctls that nobody may use. */
int seccomp_load_launcher(enum sandbox_seccomp mode, struct err *err);

/*
 * For QEMU's fork child. Sets no_new_privs whatever the pod's layer says: the child has no
 * capabilities, and without it the kernel lets it load no filter.
 */
int seccomp_load_qemu(enum sandbox_seccomp mode, struct err *err);
