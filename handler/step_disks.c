// SPDX-License-Identifier: Apache-2.0
/*
 * Step disks: kernel and disk images opened, checked, locked. The pod gets descriptors, never a path.
 * Undo closes them; locks end with the description's last holder, an emptyDisk is a file without a
 * name and ends the same way.
 */
#include "handler/steps.h"

#include "handler/imagelock.h"
#include "handler/images.h"
#include "handler/qcow2.h"

#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the plan promises QEMU: an empty disk of this size in this format. */
static int make_image(int fd, const struct plan_disk *d, struct err *err)
{
	if (d->format == FORMAT_QCOW2)
		return qcow2_create(fd, d->capacity, err);
	/* a disk has whole sectors of 512 bytes, and QEMU would have to enlarge it */
	if (ftruncate(fd, (off_t)((d->capacity + 511) / 512 * 512)) < 0)
		return err_errno(err, -errno, "can't make it %llu bytes long",
				 (unsigned long long)d->capacity);
	return 0;
}

static int create_disk(const struct plan_disk *d, int *ret, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	int r;

	if (!d->capacity)
		return err_set(err, -EINVAL,
			       "hostDisk %s is not there, and type DiskOrCreate needs capacity to "
			       "create it: say how large, such as capacity: 10Gi",
			       d->path);
	fd = open(d->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0)
		return err_errno(err, -errno, "%s: can't create it (type DiskOrCreate)", d->path);
	r = make_image(fd, d, err);
	if (r < 0) {
		(void)unlink(d->path); /* half-made: nobody has seen it */
		err_prefix(err, "hostDisk %s", d->path);
		return r;
	}
	*ret = TAKE_FD(fd);
	return 0;
}

static int open_host_disk(const struct plan_disk *d, int *ret, struct err *err)
{
	int mode = d->readonly ? O_RDONLY : O_RDWR;
	_cleanup_fd_ int fd = open(d->path, mode | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 && errno == ENOENT && d->create && !d->readonly)
		return create_disk(d, ret, err);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(err, -errno, "hostDisk %s", d->path);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return err_set(err, -EINVAL,
			       "hostDisk %s: neither a regular file nor a block device", d->path);
	*ret = TAKE_FD(fd);
	return 0;
}

static int check_sectors(int fd, const struct plan_disk *d, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(err, -errno, "hostDisk %s", d->path);
	if (!S_ISREG(st.st_mode) || (st.st_size > 0 && st.st_size % 512 == 0))
		return 0;
	return err_set(
		err, -EINVAL,
		"hostDisk %s: is %lld bytes long, a raw disk has whole sectors of 512 bytes: "
		"truncate --size=%%512 %s",
		d->path, (long long)st.st_size, d->path);
}

static int check_format(int fd, const struct plan_disk *d, struct err *err)
{
	unsigned char head[QCOW2_HEADER_BYTES] = {0};
	ssize_t n = pread(fd, head, sizeof head, 0);
	uint64_t size;

	if (n < 0)
		return err_errno(err, -errno, "hostDisk %s", d->path);
	if (d->format == FORMAT_QCOW2) {
		int r = qcow2_check(head, (size_t)n, &size, err);

		err_prefix(err, "hostDisk %s", d->path);
		return r;
	}
	if (qcow2_magic(head, (size_t)n))
		return err_set(err, -EINVAL,
			       "hostDisk %s: holds a qcow2 image, but its name says raw: rename it "
			       "to end in .qcow2, or convert it: qemu-img convert -O raw OLD NEW",
			       d->path);
	return check_sectors(fd, d, err);
}

static int open_empty_disk(struct handler *h, const struct plan_disk *d, int *ret, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	int r = mkdir_p_at(h->paths.lib_fd, "volumes", 0700);

	if (r < 0)
		return err_errno(err, r, "%s/volumes", h->paths.lib);
	fd = openat(h->paths.lib_fd, "volumes", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(err, -errno, "emptyDisk '%s' in %s/volumes", d->name,
				 h->paths.lib);
	r = make_image(fd, d, err);
	if (r < 0) {
		err_prefix(err, "emptyDisk '%s' in %s/volumes", d->name, h->paths.lib);
		return r;
	}
	*ret = TAKE_FD(fd);
	return 0;
}

static int add_disk(struct pod *pod, const struct plan_disk *d, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	int r;

	if (d->source == SOURCE_EMPTY_DISK) {
		r = open_empty_disk(pod->h, d, &fd, err);
	} else {
		r = open_host_disk(d, &fd, err);
		if (r == 0)
			r = imagelock_take(pod, fd, d->path, !d->readonly, d->shareable, err);
		if (r == 0)
			r = check_format(fd, d, err);
	}
	if (r == 0)
		pod_add_fd(pod, TAKE_FD(fd), "disk:%s", d->name);
	return r;
}

static int add_kernel(struct pod *pod, const char *path, const char *name, struct err *err)
{
	int fd, r;

	if (!path)
		return 0;
	r = images_load(pod->h, pod->plan->kernel_image, path, &fd, err);
	if (r == 0)
		pod_add_fd(pod, fd, "%s", name);
	return r;
}

int step_disks(struct pod *pod, struct err *err)
{
	int r = add_kernel(pod, pod->plan->kernel_path, "kernel", err);

	if (r == 0)
		r = add_kernel(pod, pod->plan->initrd_path, "initrd", err);
	for (unsigned i = 0; r == 0 && i < pod->plan->n_disks; i++)
		r = add_disk(pod, &pod->plan->disks[i], err);
	return r;
}

int undo_disks(struct pod *pod, struct err *err)
{
	(void)err;
	for (unsigned i = 0; i < pod->n_fds; i++)
		pod->fds[i].fd = fd_close(pod->fds[i].fd);
	pod->n_fds = 0;
	return 0;
}
