// SPDX-License-Identifier: Apache-2.0
#include "cgroups/tree.h"

#include "cgroups/mounts.h"
#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#define MOUNTINFO_MAX (16U << 20)

static const char *const hier_names[HIER_MAX] = {
	[HIER_UNIFIED] = "unified", [HIER_CPUSET] = "cpuset", [HIER_MEMORY] = "memory",
	[HIER_PIDS] = "pids",	    [HIER_CPU] = "cpu",	      [HIER_DEVICES] = "devices",
};

const char *tree_hier_name(enum tree_hier hier)
{
	return hier_names[hier];
}

bool tree_has(const struct tree *t, enum tree_hier hier)
{
	return t->fd[hier] >= 0;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool tag_valid(const char *tag)
{
	return tag && strlen(tag) == TREE_TAG_LEN &&
	       strspn(tag, "0123456789abcdef") == TREE_TAG_LEN;
}

bool tree_uid_valid(const char *uid)
{
	if (!uid)
		return false;
	for (int i = 0; i < TREE_UID_LEN; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? uid[i] != '-' : !is_hex(uid[i]))
			return false;
	}
	return !uid[TREE_UID_LEN];
}

int tree_path(const struct tree *t, enum tree_node node, const char *uid,
	      char ret[static TREE_PATH_MAX], struct err *err)
{
	static const char *const below[] = {
		[NODE_POD] = "",  [NODE_EMU] = "/emu",	    [NODE_VCPU] = "/vcpu",
		[NODE_SIDE] = "", [NODE_SIDE_EMU] = "/emu", [NODE_SIDE_VCPU] = "/vcpu"};

	if (node > NODE_TOP && !tree_uid_valid(uid))
		return err_set(err, -EINVAL,
			       "cgroup: '%.40s' is no pod uid: a lower-case UUID of 36 characters "
			       "is wanted",
			       uid ? uid : "");
	if (node == NODE_ROOT)
		(void)snprintf(ret, TREE_PATH_MAX, ".");
	else if (node == NODE_TOP)
		(void)snprintf(ret, TREE_PATH_MAX, "virtpod-%s", t->tag);
	else if (node >= NODE_SIDE)
		(void)snprintf(ret, TREE_PATH_MAX, "virtpod-%s.%s%s", t->tag, uid,
			       t->v2 ? below[node] : ".vcpu");
	else
		(void)snprintf(ret, TREE_PATH_MAX, "virtpod-%s/pod-%s%s", t->tag, uid, below[node]);
	return 0;
}

bool tree_uid_of(const struct tree *t, enum tree_node in, const char *name,
		 char ret[static TREE_UID_LEN + 1])
{
	const char *p = str_after(name, in == NODE_TOP ? "pod-" : "virtpod-");
	const char *end = in == NODE_TOP || t->v2 ? "" : ".vcpu";
	char uid[TREE_UID_LEN + 1];

	if (p && in == NODE_ROOT) {
		p = str_after(p, t->tag);
		p = p ? str_after(p, ".") : NULL;
	}
	if (!p || strnlen(p, TREE_UID_LEN) < TREE_UID_LEN)
		return false;
	memcpy(uid, p, TREE_UID_LEN);
	uid[TREE_UID_LEN] = 0;
	if (!tree_uid_valid(uid) || !str_eq(p + TREE_UID_LEN, end))
		return false;
	memcpy(ret, uid, sizeof uid);
	return true;
}

/* Open a mount point and make sure that it is the file system that mountinfo told of. */
static int open_mount(const struct mount_entry *m, enum tree_hier hier, int *ret, struct err *err)
{
	_cleanup_fd_ int fd = open(m->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return err_errno(err, -errno, "cgroup %s at '%s'", hier_names[hier], m->path);
	if (fs.f_type != (hier == HIER_UNIFIED ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC))
		return err_set(err, -ENOTSUP,
			       "cgroup %s at '%s': something else is mounted over it",
			       hier_names[hier], m->path);
	*ret = TAKE_FD(fd);
	return 0;
}

/* Does the unified tree hold this controller? Then no v1 hierarchy can. */
static bool unified_has(const struct tree *t, enum tree_hier hier)
{
	char have[256];

	return t->fd[HIER_UNIFIED] >= 0 &&
	       !file_read_line_at(t->fd[HIER_UNIFIED], "cgroup.controllers", have, sizeof have) &&
	       str_has_word(have, hier_names[hier]);
}

/* A v1 controller that is nowhere, or in the unified tree while others are not. */
static int missing(const struct tree *t, enum tree_hier hier, struct err *err)
{
	if (unified_has(t, hier))
		return err_set(
			err, -ENOTSUP,
			"cgroup controller '%s' is in the unified tree (v2), but not all of "
			"cpuset, cpu, memory and pids are: boot the host with all of them in "
			"one, systemd.unified_cgroup_hierarchy=1 or =0 on the kernel's "
			"command line",
			hier_names[hier]);
	return err_set(err, -ENOENT,
		       "cgroup controller '%s' is not mounted; mount it with: mount -t cgroup -o "
		       "%s cgroup /sys/fs/cgroup/%s",
		       hier_names[hier], hier_names[hier], hier_names[hier]);
}

static int open_hier(struct tree *t, const char *mountinfo, enum tree_hier hier, dev_t dev[],
		     struct err *err)
{
	struct mount_entry m;
	const char *controller = hier == HIER_UNIFIED ? NULL : hier_names[hier];
	int r = mounts_find(mountinfo, controller, &m);

	if (r == -ENOENT)
		return controller ? missing(t, hier, err) : 0;
	if (r < 0)
		return err_errno(err, r, "/proc/self/mountinfo");
	dev[hier] = makedev(m.major, m.minor);
	for (int i = 0; i < (int)hier; i++)
		if (t->fd[i] >= 0 && dev[i] == dev[hier])
			return err_set(err, -ENOTSUP,
				       "cgroup controllers '%s' and '%s' share the mount '%s'; "
				       "each must be mounted alone",
				       hier_names[i], hier_names[hier], m.path);
	t->root[hier] = xstrdup(str_eq(m.root, "/") ? "" : m.root);
	return open_mount(&m, hier, &t->fd[hier], err);
}

static void tree_freep(struct tree **t)
{
	tree_free(*t);
}

int tree_open(const char *tag, struct tree **ret, struct err *err)
{
	_cleanup_(tree_freep) struct tree *t = NULL;
	_cleanup_free_ char *mountinfo = NULL;
	dev_t dev[HIER_MAX] = {0};
	int r;

	if (!tag_valid(tag))
		return err_set(err, -EINVAL,
			       "cgroup: '%.40s' is no tag: 8 lower-case hex digits are wanted",
			       tag ? tag : "");
	r = file_read_at(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX, &mountinfo, NULL);
	if (r < 0)
		return err_errno(err, r, "/proc/self/mountinfo");
	t = xcalloc(1, sizeof *t);
	memcpy(t->tag, tag, sizeof t->tag);
	for (int i = 0; i < HIER_MAX; i++)
		t->fd[i] = -1;
	r = open_hier(t, mountinfo, HIER_UNIFIED, dev, err);
	t->v2 = unified_has(t, HIER_CPUSET) && unified_has(t, HIER_CPU) &&
		unified_has(t, HIER_MEMORY) && unified_has(t, HIER_PIDS);
	for (int i = HIER_UNIFIED + 1; !r && !t->v2 && i < HIER_MAX; i++)
		r = open_hier(t, mountinfo, (enum tree_hier)i, dev, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(t);
	return 0;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	for (int i = 0; i < HIER_MAX; i++) {
		(void)fd_close(t->fd[i]);
		free(t->root[i]);
	}
	free(t);
}
