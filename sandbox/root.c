// SPDX-License-Identifier: Apache-2.0
/*
 * The new root is a tmpfs put on top of "/": absolute paths still start below it, at the host's root,
 * so sources are found there, while targets are reached through the descriptor of the new one.
 */
#include "sandbox/root.h"

#include "lib/file.h"
#include "lib/util.h"
#include "sandbox/mount.h"
#include "sandbox/mountinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_POWER (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* Folders and empty files to mount on: nothing is ever written once it is read-only. */
static const struct mount_option root_options[] = {
	{"mode", "0755"},
	{"size", "64k"},
	{"nr_inodes", "256"},
};

/* QEMU needs none of it when all goes well; it is charged to the pod's memory. */
static const struct mount_option tmp_options[] = {
	{"mode", "0700"},
	{"size", "4m"},
	{"nr_inodes", "256"},
};

/*
 * Only processes: neither /proc/sys nor anything else that tells of the host. And of those only what
 * one could trace, so that QEMU does not see a launcher that isn't dumpable.
 */
static const struct mount_option proc_options[] = {{"subset", "pid"}, {"hidepid", "invisible"}};

/* Merged /usr: what the fixed names in executables and search paths expect. */
static const struct {
	const char *name, *target;
} links[] = {{"bin", "usr/bin"}, {"lib", "usr/lib"}, {"lib64", "usr/lib64"}};

/* Move the mount `fd` to `path` (relative), a new folder of the root. */
static int attach_folder(int root, const char *path, int fd, struct err *err)
{
	int r;

	if (mkdirat(root, path, 0755) < 0)
		return err_errno(err, -errno, "sandbox: making /%s", path);
	r = sys_mount_move(fd, root, path);
	return r < 0 ? err_errno(err, r, "sandbox: mounting /%s", path) : 0;
}

/* A folder or an empty file to bind on. One that is there already lies below an earlier bind. */
static int bind_target(int root, const char *path, mode_t mode, struct err *err)
{
	_cleanup_free_ char *parent = xstrdup(path);
	char *slash = strrchr(parent, '/');
	_cleanup_fd_ int fd = -1;
	struct stat st;
	int r = 0;

	if (fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (S_ISDIR(mode)) {
		r = mkdir_p_at(root, path, 0755);
	} else {
		if (slash) {
			*slash = 0;
			r = mkdir_p_at(root, parent, 0755);
		}
		if (!r) {
			fd = openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
			r = fd < 0 ? -errno : 0;
		}
	}
	return r < 0 ? err_errno(err, r, "sandbox: making /%s to bind on", path) : 0;
}

static int bind_one(int root, const struct sandbox_bind *bind, struct err *err)
{
	const char *target = bind->source + 1;
	_cleanup_fd_ int tree = -1;
	struct stat st;
	int r = sandbox_bind_check(bind, err);

	if (r < 0)
		return r;
	tree = sys_tree_clone(AT_FDCWD, bind->source);
	if (tree == -ENOENT && bind->optional)
		return 0;
	if (tree < 0)
		return err_errno(err, tree, "sandbox: binding %s", bind->source);
	r = sys_mount_setattr(tree, "", /* recursive= */ true, MOUNT_ATTR_RDONLY | NO_POWER, 0);
	if (r < 0 || fstat(tree, &st) < 0)
		return err_errno(err, r < 0 ? r : -errno, "sandbox: making %s read-only",
				 bind->source);
	r = bind_target(root, target, st.st_mode, err);
	if (r < 0)
		return r;
	r = sys_mount_move(tree, root, target);
	return r < 0 ? err_errno(err, r, "sandbox: binding %s", bind->source) : 0;
}

/* A new one can be had only for a pid namespace of the pod's own; else the host's is all there is. */
static int attach_proc(int root, const struct sandbox_layers *layers, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	int r;

	if (layers->pid) {
		r = mount_new("proc", proc_options, ARRAY_SIZE(proc_options),
			      NO_POWER | MOUNT_ATTR_NOEXEC, &fd, err);
		if (r < 0)
			return r;
	} else {
		fd = sys_tree_clone(AT_FDCWD, "/proc");
		if (fd < 0)
			return err_errno(err, fd, "sandbox: binding the host's /proc");
	}
	return attach_folder(root, "proc", fd, err);
}

static int attach_tmp(int root, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	int r = mount_new("tmpfs", tmp_options, ARRAY_SIZE(tmp_options),
			  NO_POWER | MOUNT_ATTR_NOEXEC, &fd, err);

	return r < 0 ? r : attach_folder(root, "tmp", fd, err);
}

static int root_fill(int root, const struct sandbox_enter *e, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		if (symlinkat(links[i].target, root, links[i].name) < 0)
			return err_errno(err, -errno, "sandbox: linking /%s", links[i].name);
	for (size_t i = 0; !r && i < e->n_binds; i++)
		r = bind_one(root, &e->binds[i], err);
	if (!r)
		r = attach_folder(root, "dev", e->dev_fd, err);
	if (!r)
		r = attach_proc(root, &e->layers, err);
	return r < 0 ? r : attach_tmp(root, err);
}

static int root_pivot(int root, struct err *err)
{
	int r;

	if (fchdir(root) < 0)
		return err_errno(err, -errno, "sandbox: entering the new root");
	r = sys_pivot_to_cwd();
	if (r < 0)
		return err_errno(err, r, "sandbox: pivoting into the new root");
	if (chdir("/") < 0)
		return err_errno(err, -errno, "sandbox: chdir to the new root");
	r = sys_mount_setattr(AT_FDCWD, "/", /* recursive= */ false,
			      MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, 0);
	return r < 0 ? err_errno(err, r, "sandbox: making the root read-only") : 0;
}

/* Every mount that is visible, with the options it must have; anything else is the host's. */
static int root_verify(const struct sandbox_enter *e, struct err *err)
{
	struct mountinfo_rule rules[4 + SANDBOX_MAX_BINDS] = {
		{"/", "ro,nosuid,nodev,noexec", .below = false},
		{"/dev", "ro,nosuid,noexec", .below = false},
		/* the host's own options on a /proc that was bound */
		{"/proc", e->layers.pid ? "nosuid,nodev,noexec" : "", .below = !e->layers.pid},
		{"/tmp", "nosuid,nodev,noexec", .below = false},
	};
	size_t n = 4;

	for (size_t i = 0; i < e->n_binds; i++)
		rules[n++] = (struct mountinfo_rule){e->binds[i].source, "ro,nosuid,nodev",
						     .below = true};
	return mountinfo_verify(rules, n, err);
}

int root_enter(const struct sandbox_enter *e, struct err *err)
{
	_cleanup_fd_ int root = -1;
	int r;

	if (e->n_binds > SANDBOX_MAX_BINDS)
		return err_set(err, -EINVAL, "sandbox: %zu binds, at most %d", e->n_binds,
			       SANDBOX_MAX_BINDS);
	/* the copy of the host's mounts would still receive the host's new ones */
	r = sys_mount_setattr(AT_FDCWD, "/", /* recursive= */ true, 0, MS_PRIVATE);
	if (r < 0)
		return err_errno(err, r, "sandbox: making mounts private");
	r = mount_new("tmpfs", root_options, ARRAY_SIZE(root_options), NO_POWER, &root, err);
	if (r < 0)
		return r;
	r = sys_mount_move(root, AT_FDCWD, "/");
	if (r < 0)
		return err_errno(err, r, "sandbox: attaching the new root");
	r = root_fill(root, e, err);
	if (!r)
		r = root_pivot(root, err);
	return r < 0 ? r : root_verify(e, err);
}
