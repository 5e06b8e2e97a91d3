// SPDX-License-Identifier: Apache-2.0
/*
 * Hold one VM of KVM's that never runs, as long as the lab is up. With the first VM of a host and with its
 * last Linux patches its scheduler while all CPUs run it (preempt_notifier_key, virt/kvm/kvm_main.c). QEMU's
 * emulation of several CPUs at once can lose the end of such a patch: every CPU then meets the breakpoint
 * that stood there meanwhile, for ever (seen with QEMU 7.2; an NMI showed all of them in exc_int3 below
 * __schedule). So here there is a first VM once, at boot, and never a last one.
 */
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

int main(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	if (kvm < 0 || ioctl(kvm, KVM_CREATE_VM, 0) < 0) {
		perror("hold-kvm");
		return 1;
	}
	for (;;)
		(void)pause();
}
