// SPDX-License-Identifier: Apache-2.0
#include "handler/poddir.h"

#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>

/* The logs are at most 4.5 MiB (api/wire.h, handler/podlog.h), the outcome one page. */
#define PODDIR_OPTIONS "mode=0700,size=5m,nr_inodes=16"

int poddir_create(struct handler *h, const char *uid, int *ret_fd, struct err *err)
{
	_cleanup_free_ char *sub = xasprintf("pods/%s", uid);
	_cleanup_free_ char *path = xasprintf("%s/%s", h->paths.run, sub);
	int r = mkdir_p_at(h->paths.run_fd, sub, 0700);

	if (r < 0)
		return err_errno(err, r, "%s", path);
	if (mount("virtpod", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, PODDIR_OPTIONS) < 0)
		return err_errno(err, -errno, "%s: mount tmpfs", path);
	return poddir_open(h, uid, ret_fd, err);
}

int poddir_open(struct handler *h, const char *uid, int *ret_fd, struct err *err)
{
	_cleanup_free_ char *sub = xasprintf("pods/%s", uid);
	int fd = openat(h->paths.run_fd, sub, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(err, -errno, "%s/%s", h->paths.run, sub);
	*ret_fd = fd;
	return 0;
}

int poddir_destroy(struct handler *h, const char *uid, struct err *err)
{
	_cleanup_free_ char *sub = xasprintf("pods/%s", uid);
	_cleanup_free_ char *path = xasprintf("%s/%s", h->paths.run, sub);
	int r;

	/* lazily: a console client may still hold a file of it; EINVAL: it is no mount (any more) */
	while (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
		;
	if (errno != EINVAL && errno != ENOENT)
		return err_errno(err, -errno, "%s: unmount", path);
	r = rm_rf_at(h->paths.run_fd, sub);
	return r < 0 ? err_errno(err, r, "%s", path) : 0;
}
