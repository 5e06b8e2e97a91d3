// SPDX-License-Identifier: Apache-2.0
/* The one list of system calls that a pod may make (internal to sandbox/; see seccomp.h). */
#pragma once

#include <stddef.h>

enum { SECCOMP_LAUNCHER = 1, SECCOMP_QEMU = 2, SECCOMP_BOTH = 3 };

struct syscall_rule {
	int nr; /* libseccomp's number */
	unsigned who;
};

extern const struct syscall_rule syscall_table[];
extern const size_t syscall_table_size;
