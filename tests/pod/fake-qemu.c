// SPDX-License-Identifier: Apache-2.0
/* In QEMU's place in a pod, and as bad as the VM's name says. Static: a pod has few libraries. */
#include "tests/unit/launcher/fake_qemu.h"

int main(int argc, char **argv)
{
	fake_qemu_main(argc, argv);
}
