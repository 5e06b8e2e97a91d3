// SPDX-License-Identifier: Apache-2.0
#include "cgroups/group.h"

#include "lib/cpus.h"
#include "lib/file.h"
#include "lib/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_MAX  (4U << 20)
#define DEPTH_MAX 8 /* we make two levels; whoever nests deeper must clean up himself */

static int open_beneath(int dirfd, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV,
	};
	int fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof how);

	return fd < 0 ? -errno : fd;
}

/* "cgroup memory:virtpod-…/pod-…" in front of every message */
static int group_err(const struct group *g, int code, const char *file, struct err *err)
{
	char path[TREE_PATH_MAX];
	int r = tree_path(g->tree, g->node, g->uid, path, err);

	if (r < 0)
		return r;
	return err_errno(err, code, "cgroup %s:%s%s%s", tree_hier_name(g->hier), path,
			 file ? ": " : "", file ? file : "");
}

int group_open(const struct group *g, const char *file, int flags, int *ret, struct err *err)
{
	char path[TREE_PATH_MAX + NAME_MAX + 2];
	char dir[TREE_PATH_MAX];
	int r = tree_path(g->tree, g->node, g->uid, dir, err);
	int fd;

	if (r < 0)
		return r;
	if (strchr(file, '/') || str_eq(file, "..") || strlen(file) > NAME_MAX)
		return group_err(g, -EINVAL, file, err);
	if (g->node == NODE_ROOT && (flags & O_ACCMODE) != O_RDONLY &&
	    !str_eq(file, "cgroup.subtree_control"))
		return group_err(g, -EPERM, file, err);
	if (!tree_has(g->tree, g->hier))
		return group_err(g, -ENOENT, file, err);
	(void)snprintf(path, sizeof path, "%s/%s", dir, file);
	fd = open_beneath(g->tree->fd[g->hier], path, flags & ~(O_CREAT | O_TRUNC));
	if (fd < 0)
		return group_err(g, fd, file, err);
	*ret = fd;
	return 0;
}

int group_open_dir(const struct group *g, int *ret, struct err *err)
{
	return group_open(g, ".", O_RDONLY | O_DIRECTORY, ret, err);
}

int group_exists(const struct group *g, bool *ret, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	struct err why = {0};
	int r = group_open_dir(g, &fd, &why);

	if (r < 0 && r != -ENOENT)
		return err_set(err, r, "%s", why.msg);
	*ret = r == 0;
	return 0;
}

/* The directory that holds a group, and the group's own name in it (points into path). */
static int open_parent(const struct group *g, char path[static TREE_PATH_MAX], int *ret_fd,
		       const char **ret_name, struct err *err)
{
	int r = tree_path(g->tree, g->node, g->uid, path, err);
	char *slash;
	int fd;

	if (r < 0)
		return r;
	if (g->node == NODE_ROOT)
		return group_err(g, -EPERM, NULL, err);
	slash = strrchr(path, '/');
	if (slash)
		*slash = 0;
	fd = open_beneath(g->tree->fd[g->hier], slash ? path : ".", O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return group_err(g, fd, NULL, err);
	*ret_fd = fd;
	*ret_name = slash ? slash + 1 : path;
	return 0;
}

int group_make(const struct group *g, struct err *err)
{
	char path[TREE_PATH_MAX];
	_cleanup_fd_ int fd = -1;
	const char *name;
	int r = open_parent(g, path, &fd, &name, err);

	if (r < 0)
		return r;
	if (mkdirat(fd, name, 0755) < 0)
		return group_err(g, -errno, NULL, err);
	return 0;
}

static int read_names(int fd_consume, char ***ret)
{
	_cleanup_dir_ DIR *dir = NULL;
	char **names;
	struct dirent *de;
	size_t n = 0;
	int r = dir_open_fd(fd_consume, &dir);

	if (r < 0)
		return r;
	names = xcalloc(1, sizeof *names);
	while ((errno = 0, de = readdir(dir))) {
		if (de->d_type != DT_DIR || de->d_name[0] == '.')
			continue;
		names = xrealloc(names, n + 2, sizeof *names);
		names[n++] = xstrdup(de->d_name);
		names[n] = NULL;
	}
	if (errno) {
		r = -errno;
		group_names_free(names);
		return r;
	}
	*ret = names;
	return 0;
}

void group_names_free(char **names)
{
	for (char **p = names; p && *p; p++)
		free(*p);
	free(names);
}

void group_names_freep(char ***names)
{
	group_names_free(*names);
}

static int remove_tree(int parent, const char *name, unsigned depth)
{
	_cleanup_(group_names_freep) char **names = NULL;
	_cleanup_fd_ int fd = open_beneath(parent, name, O_RDONLY | O_DIRECTORY);
	int r, copy;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (!depth)
		return -ELOOP;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return -errno;
	r = read_names(copy, &names);
	for (char **p = names; !r && *p; p++)
		r = remove_tree(fd, *p, depth - 1);
	if (!r && unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		r = -errno;
	return r;
}

int group_remove(const struct group *g, struct err *err)
{
	char path[TREE_PATH_MAX];
	_cleanup_fd_ int fd = -1;
	struct err why = {0};
	const char *name;
	int r = open_parent(g, path, &fd, &name, &why);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return err_set(err, r, "%s", why.msg);
	r = remove_tree(fd, name, DEPTH_MAX);
	if (r == -ELOOP)
		return err_set(err, r,
			       "cgroup %s: somebody made groups in it, more than %d deep: "
			       "remove them",
			       path, DEPTH_MAX);
	return r < 0 ? group_err(g, r, NULL, err) : 0;
}

int group_read(const struct group *g, const char *file, char **ret, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	size_t len;
	int r = group_open(g, file, O_RDONLY, &fd, err);

	if (r < 0)
		return r;
	r = file_read_fd(fd, FILE_MAX, ret, &len);
	if (r < 0)
		return group_err(g, r, file, err);
	if (len && (*ret)[len - 1] == '\n')
		(*ret)[len - 1] = 0;
	return 0;
}

static int parse_u64(const char *s, uint64_t *ret)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno || end == s || (*end && *end != '\n') || *s == '-')
		return -EINVAL;
	*ret = v;
	return 0;
}

int group_read_u64(const struct group *g, const char *file, uint64_t *ret, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	int r = group_read(g, file, &text, err);

	if (r < 0)
		return r;
	r = parse_u64(text, ret);
	return r < 0 ? group_err(g, r, file, err) : 0;
}

int group_read_key(const struct group *g, const char *file, const char *key, uint64_t *ret,
		   struct err *err)
{
	_cleanup_free_ char *text = NULL;
	int r = group_read(g, file, &text, err);

	if (r < 0)
		return r;
	for (const char *p = text; p; p = strchr(p, '\n')) {
		const char *value;

		p += *p == '\n';
		value = str_after(p, key);
		if (!value || *value != ' ')
			continue;
		r = parse_u64(value + 1, ret);
		return r < 0 ? group_err(g, r, file, err) : 0;
	}
	return err_set(err, -ENOENT, "cgroup %s: %s has no line '%s'", tree_hier_name(g->hier),
		       file, key);
}

int group_write(const struct group *g, const char *file, const char *text, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	size_t len = strlen(text);
	ssize_t n;
	int r = group_open(g, file, O_WRONLY, &fd, err);

	if (r < 0)
		return r;
	do
		n = write(fd, text, len);
	while (n < 0 && errno == EINTR);
	if (n >= 0 && (size_t)n == len)
		return 0;
	r = group_err(g, n < 0 ? -errno : -EIO, file, err);
	err_prefix(err, "writing '%.200s'", text);
	return r;
}

int group_set(const struct group *g, const char *file, const char *text, const char *want,
	      struct err *err)
{
	_cleanup_free_ char *have = NULL;
	char path[TREE_PATH_MAX];
	int r = group_write(g, file, text, err);

	if (!r)
		r = group_read(g, file, &have, err);
	if (!r)
		r = tree_path(g->tree, g->node, g->uid, path, err);
	if (r < 0)
		return r;
	if (!str_eq(have, want))
		return err_set(err, -EIO,
			       "cgroup %s:%s: %s was set to '%.200s' but the kernel holds '%.200s'",
			       tree_hier_name(g->hier), path, file, want, have);
	return 0;
}

int group_set_u64(const struct group *g, const char *file, uint64_t value, uint64_t want,
		  struct err *err)
{
	char text[24], want_text[24];

	(void)snprintf(text, sizeof text, "%" PRIu64, value);
	(void)snprintf(want_text, sizeof want_text, "%" PRIu64, want);
	return group_set(g, file, text, want_text, err);
}

int group_read_set(const struct group *g, const char *file, cpu_set_t *ret, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	int r = group_read(g, file, &text, err);

	if (r < 0)
		return r;
	r = cpus_parse(text, ret);
	return r < 0 ? err_set(err, r, "cgroup %s: %s holds '%.200s', which is no list",
			       tree_hier_name(g->hier), file, text)
		     : 0;
}

int group_set_set(const struct group *g, const char *file, const cpu_set_t *set, struct err *err)
{
	char text[CPUS_TEXT_MAX];

	return group_set(g, file, cpus_format(set, text), text, err);
}

int group_any_task(const struct group *g, pid_t *ret, struct err *err)
{
	bool child = g->node != NODE_POD && g->node != NODE_SIDE;
	const char *file = g->hier != HIER_UNIFIED ? "tasks"
			   : child		   ? "cgroup.threads"
						   : "cgroup.procs";
	_cleanup_free_ char *text = NULL;
	int r = group_read(g, file, &text, err);

	if (r < 0)
		return r;
	*ret = (pid_t)strtol(text, NULL, 10);
	return 0;
}

int group_names(const struct group *g, char ***ret, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	int r = group_open_dir(g, &fd, err);

	if (r < 0)
		return r;
	r = read_names(TAKE_FD(fd), ret);
	return r < 0 ? group_err(g, r, NULL, err) : 0;
}
