// SPDX-License-Identifier: Apache-2.0
#include "handler/paths.h"

#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* FNV-1a, 32 bits: the tag only has to tell a few roots of one host apart. */
static uint32_t hash_text(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h;
}

static int open_dir(const char *path, int make, mode_t mode, int *ret, struct err *err)
{
	int r, fd;

	if (make) {
		r = mkdir_p_at(AT_FDCWD, path, mode);
		if (r < 0)
			return err_errno(err, r, "%s: can't make the directory", path);
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	*ret = fd;
	return 0;
}

static int canonical_root(const char *root, int make, char **ret, struct err *err)
{
	char real[PATH_MAX];
	int r;

	if (!root) {
		*ret = xstrdup("/");
		return 0;
	}
	if (make) {
		r = mkdir_p_at(AT_FDCWD, root, 0755);
		if (r < 0)
			return err_errno(err, r, "--root %s: can't make the directory", root);
	}
	if (!realpath(root, real))
		return err_errno(err, -errno, "--root %s", root);
	/* its tag would be that of the real installation, whose pods would then look like leftovers */
	if (str_eq(real, "/"))
		return err_set(err, -EINVAL,
			       "--root %s: must be a directory below /; leave --root out to use "
			       "/var/lib/virtpod and /run/virtpod",
			       root);
	*ret = xstrdup(real);
	return 0;
}

static int name_all(const char *root, int make, struct paths *ret, struct err *err)
{
	struct paths p = {.lib_fd = -1, .run_fd = -1};
	int r = canonical_root(root, make, &p.root, err);

	if (r < 0)
		return r;
	if (root) {
		p.lib = xasprintf("%s/lib", p.root);
		p.run = xasprintf("%s/run", p.root);
		p.manifests = xasprintf("%s/etc/manifests", p.root);
	} else {
		p.lib = xstrdup("/var/lib/virtpod");
		p.run = xstrdup("/run/virtpod");
		p.manifests = xstrdup("/etc/virtpod/manifests");
	}
	(void)snprintf(p.tag, sizeof p.tag, "%08x", hash_text(p.root));
	*ret = p;
	return 0;
}

int paths_name(const char *root, struct paths *ret, struct err *err)
{
	return name_all(root, /* make= */ false, ret, err);
}

int paths_open(const char *root, int make, struct paths *ret, struct err *err)
{
	struct paths p;
	int r = name_all(root, make, &p, err);

	if (r < 0)
		return r;
	r = open_dir(p.lib, make, 0755, &p.lib_fd, err);
	if (r == 0)
		r = open_dir(p.run, make, 0711, &p.run_fd, err);
	if (r < 0) {
		paths_close(&p);
		return r;
	}
	*ret = p;
	return 0;
}

int paths_check(const char *root, struct err *err)
{
	struct paths p = {.lib_fd = -1, .run_fd = -1};
	struct err why = {0};
	int r = paths_name(root, &p, &why);

	if (r == 0 && access(p.lib, F_OK) < 0 && access(p.run, F_OK) < 0)
		r = -errno;
	if (r == -ENOENT)
		(void)err_set(err, r, "%s: no such root", root ? root : "/var/lib/virtpod");
	else if (r < 0)
		(void)err_set(err, r, "%s", why.code ? why.msg : strerror(-r));
	paths_close(&p);
	return r;
}

void paths_close(struct paths *p)
{
	free(p->root);
	free(p->lib);
	free(p->run);
	free(p->manifests);
	p->lib_fd = fd_close(p->lib_fd);
	p->run_fd = fd_close(p->run_fd);
	p->root = p->lib = p->run = p->manifests = NULL;
}
