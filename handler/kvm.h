// SPDX-License-Identifier: Apache-2.0
/* Can this host run a guest under KVM? */
#pragma once

#include <stdbool.h>

/*
 * /dev/kvm opens, speaks the API, and the CPU has VT-x or AMD-V. Kernels with a KVM of another kind
 * (PVM) open the device without them, and an unmodified guest's firmware then never ends.
 */
bool kvm_works(void);

/* The same of a descriptor, or of -1: it did not open. */
bool kvm_fd_works(int fd);
