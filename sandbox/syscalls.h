// SPDX-License-Identifier: Apache-2.0
/*
 * The system calls that glibc 2.34 (RHEL 9) has no function for, each as small as the kernel's own
 * interface allows. All return a negative errno; all new descriptors are close-on-exec. The one
 * place of the project that clones.
 */
#pragma once

#include <linux/mount.h> /* MOUNT_ATTR_…, MS_PRIVATE; sys/mount.h can't be included beside it */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * clone3 with CLONE_PARENT | CLONE_PIDFD and `flags` (CLONE_NEW…): the new process is a child of the
 * caller's parent. cgroup_fd >= 0: CLONE_INTO_CGROUP (v2 only). Returns the pid, 0 in the child.
 * It bypasses glibc's fork handlers: the child may only prepare its execve, from one thread.
 */
pid_t sys_clone_sibling(uint64_t flags, int cgroup_fd, int *ret_pidfd);

int sys_pidfd_kill(int pidfd); /* SIGKILL */
int sys_exec_fd(int fd, char *const argv[], char *const envp[]);

int sys_fsopen(const char *fs);
int sys_fsconfig_string(int fs, const char *key, const char *value);
int sys_fsmount(int fs, unsigned attrs); /* creates the superblock, too: a detached mount */

/* A detached recursive copy of the mounts at `path`. */
int sys_tree_clone(int dirfd, const char *path);
int sys_mount_move(int mount_fd, int dirfd, const char *path);

/* attrs: MOUNT_ATTR_… to set; propagation: 0 or MS_PRIVATE. "" is dirfd's own mount. */
int sys_mount_setattr(int dirfd, const char *path, bool recursive, uint64_t attrs,
		      uint64_t propagation);

/* Make the working directory's mount the root and detach the old root with all below it. */
int sys_pivot_to_cwd(void);

int sys_new_session_keyring(void);
