// SPDX-License-Identifier: Apache-2.0
#include "handler/qemupath.h"

#include "lib/util.h"

#include <errno.h>
#include <unistd.h>

/* Debian's and Fedora's name, RHEL's, and KubeVirt's image's */
static const char *const paths[] = {
	"/usr/bin/qemu-system-x86_64",
	"/usr/libexec/qemu-kvm",
	"/usr/bin/qemu-kvm",
};

int qemupath_find(int root, const char **ret, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (faccessat(root, paths[i] + 1, X_OK, 0) == 0) {
			*ret = paths[i];
			return 0;
		}
	return err_set(err, -ENOENT,
		       "no QEMU: none of %s, %s, %s is there; install "
		       "qemu-system-x86 (Debian) or qemu-kvm (RHEL)",
		       paths[0], paths[1], paths[2]);
}
