// SPDX-License-Identifier: Apache-2.0
#include "handler/kvm.h"

#include "lib/util.h"

#include <cpuid.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>

/* CPUID: VMX is leaf 1, ECX bit 5; SVM is leaf 0x80000001, ECX bit 2. */
static bool cpu_virtualizes(void)
{
	unsigned a, b, c, d;

	return (__get_cpuid(1, &a, &b, &c, &d) && (c & 1u << 5)) ||
	       (__get_cpuid(0x80000001, &a, &b, &c, &d) && (c & 1u << 2));
}

bool kvm_fd_works(int fd)
{
	return fd >= 0 && ioctl(fd, KVM_GET_API_VERSION, 0) == KVM_API_VERSION && cpu_virtualizes();
}

bool kvm_works(void)
{
	_cleanup_fd_ int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	return kvm_fd_works(fd);
}
