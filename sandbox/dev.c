// SPDX-License-Identifier: Apache-2.0
#include "sandbox/dev.h"

#include "lib/util.h"
#include "sandbox/mount.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Major and minor numbers of the kernel's Documentation/admin-guide/devices.txt. */
static const struct sandbox_node always[] = {
	{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9},
};

/* Nothing is ever stored here: 64 inodes are for nodes, one page is for a mistake. */
static const struct mount_option options[] = {
	{"mode", "0755"},
	{"size", "4096"},
	{"nr_inodes", "64"},
};

static int node_make(int dir, const struct sandbox_node *node, mode_t mode, uid_t uid, gid_t gid,
		     struct err *err)
{
	if (!*node->name || node->name[0] == '.' || strchr(node->name, '/'))
		return err_set(err, -EINVAL, "sandbox: '%s' is no name of a device node",
			       node->name);
	/* fchmodat after mknodat: the caller's umask must not decide */
	if (mknodat(dir, node->name, S_IFCHR | mode, makedev(node->major, node->minor)) < 0 ||
	    fchownat(dir, node->name, uid, gid, 0) < 0 || fchmodat(dir, node->name, mode, 0) < 0)
		return err_errno(err, -errno, "sandbox: making /dev/%s (%u:%u)", node->name,
				 node->major, node->minor);
	return 0;
}

int sandbox_dev_create(uid_t uid, gid_t gid, const struct sandbox_node *nodes, size_t n,
		       int *ret_mount_fd, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	int r = mount_new("tmpfs", options, ARRAY_SIZE(options),
			  MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, &fd, err);

	for (size_t i = 0; !r && i < ARRAY_SIZE(always); i++)
		r = node_make(fd, &always[i], 0666, 0, 0, err);
	for (size_t i = 0; !r && i < n; i++)
		r = node_make(fd, &nodes[i], 0600, uid, gid, err);
	if (r < 0)
		return r;
	r = sys_mount_setattr(fd, "", /* recursive= */ false, MOUNT_ATTR_RDONLY, 0);
	if (r < 0)
		return err_errno(err, r, "sandbox: making the pod's /dev read-only");
	*ret_mount_fd = TAKE_FD(fd);
	return 0;
}
