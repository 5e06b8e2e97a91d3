// SPDX-License-Identifier: Apache-2.0
#include "launcher/disks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* The flag is tried on the description that QEMU gets, and left as it was. */
static bool direct_works(int fd, int flags)
{
	if (flags & O_DIRECT)
		return true;
	if (fcntl(fd, F_SETFL, flags | O_DIRECT) < 0)
		return false;
	(void)fcntl(fd, F_SETFL, flags);
	return true;
}

static int check_access(const struct plan_disk *d, int flags, struct err *err)
{
	bool readonly = d->readonly || d->device == DEVICE_CDROM;
	int want = readonly ? O_RDONLY : O_RDWR;

	/* QEMU takes a descriptor of a set only when its access mode is exactly the wanted one */
	if ((flags & O_ACCMODE) != want)
		return err_set(err, -EINVAL, "disk '%s': descriptor is open %s, want %s", d->name,
			       (flags & O_ACCMODE) == O_RDONLY ? "read-only" : "for writing",
			       readonly ? "read-only" : "reading and writing");
	return 0;
}

static int resolve(struct plan_disk *d, int fd, bool *ret_preallocated, struct err *err)
{
	int flags = fcntl(fd, F_GETFL), r;
	struct stat st;
	bool direct, solid;

	if (flags < 0 || fstat(fd, &st) < 0)
		return err_errno(err, -errno, "disk '%s'", d->name);
	r = check_access(d, flags, err);
	if (r < 0)
		return r;
	direct = direct_works(fd, flags);
	if (!direct && (d->cache == CACHE_NONE || d->shareable))
		return err_set(err, -EINVAL,
			       "disk '%s': %s needs O_DIRECT, which its file system has not",
			       d->name, d->shareable ? "shareable" : "cache none");
	if (d->cache == CACHE_DEFAULT)
		d->cache = direct ? CACHE_NONE : CACHE_WRITETHROUGH;
	/* st_blocks counts 512 bytes whatever the block size: stat(2) */
	solid = S_ISREG(st.st_mode) && st.st_size > 0 &&
		(uint64_t)st.st_blocks * 512 >= (uint64_t)st.st_size && d->format == FORMAT_RAW;
	if (d->io == IO_DEFAULT)
		d->io = d->cache == CACHE_NONE && (solid || S_ISBLK(st.st_mode)) ? IO_NATIVE
										 : IO_THREADS;
	*ret_preallocated = solid;
	return 0;
}

int disks_resolve(struct plan *p, struct argv_fds *fds, struct err *err)
{
	for (unsigned i = 0; i < p->n_disks; i++) {
		int r;

		if (fds->disk[i] < 0)
			return err_set(err, -EINVAL, "disk '%s': no descriptor", p->disks[i].name);
		r = resolve(&p->disks[i], fds->disk[i], &fds->preallocated[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}
