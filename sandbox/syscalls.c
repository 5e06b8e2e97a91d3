// SPDX-License-Identifier: Apache-2.0
#include "sandbox/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MNT_DETACH_FLAG 2 /* MNT_DETACH of sys/mount.h */

static int result(long r)
{
	return r < 0 ? -errno : (int)r;
}

pid_t sys_clone_sibling(uint64_t flags, int cgroup_fd, int *ret_pidfd)
{
	/* exit_signal must be 0 with CLONE_PARENT: it is the caller's own, SIGCHLD */
	struct clone_args args = {
		.flags = flags | CLONE_PARENT | CLONE_PIDFD,
		.pidfd = (uintptr_t)ret_pidfd,
	};

	if (cgroup_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)cgroup_fd;
	}
	return result(syscall(SYS_clone3, &args, sizeof args));
}

int sys_pidfd_kill(int pidfd)
{
	return result(syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0));
}

int sys_exec_fd(int fd, char *const argv[], char *const envp[])
{
	return result(syscall(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH));
}

int sys_fsopen(const char *fs)
{
	return result(syscall(SYS_fsopen, fs, FSOPEN_CLOEXEC));
}

int sys_fsconfig_string(int fs, const char *key, const char *value)
{
	return result(syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, key, value, 0));
}

int sys_fsmount(int fs, unsigned attrs)
{
	int r = result(syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0));

	return r < 0 ? r : result(syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attrs));
}

int sys_tree_clone(int dirfd, const char *path)
{
	return result(syscall(SYS_open_tree, dirfd, path,
			      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
}

int sys_mount_move(int mount_fd, int dirfd, const char *path)
{
	return result(syscall(SYS_move_mount, mount_fd, "", dirfd, path, MOVE_MOUNT_F_EMPTY_PATH));
}

int sys_mount_setattr(int dirfd, const char *path, bool recursive, uint64_t attrs,
		      uint64_t propagation)
{
	struct mount_attr attr = {.attr_set = attrs, .propagation = propagation};
	unsigned flags = AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0);

	return result(syscall(SYS_mount_setattr, dirfd, path, flags, &attr, sizeof attr));
}

int sys_pivot_to_cwd(void)
{
	int r = result(syscall(SYS_pivot_root, ".", "."));

	/* the old root now lies on top of the new one, at the same place, so "." reaches it */
	return r < 0 ? r : result(syscall(SYS_umount2, ".", MNT_DETACH_FLAG));
}

int sys_new_session_keyring(void)
{
	return result(syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL, 0, 0, 0)) < 0 ? -errno
											   : 0;
}
