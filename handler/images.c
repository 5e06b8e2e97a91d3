// SPDX-License-Identifier: Apache-2.0
#include "handler/images.h"

#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IMAGE_FILE_MAX (1024ull * 1024 * 1024)

static int open_how(int dirfd, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = {.flags = (uint64_t)flags | O_CLOEXEC, .resolve = resolve};
	long fd = syscall(SYS_openat2, dirfd, path, &how, sizeof how);

	return fd < 0 ? -errno : (int)fd;
}

static int open_image(struct handler *h, const char *reference, int *ret, struct err *err)
{
	_cleanup_fd_ int images =
		openat(h->paths.lib_fd, "images", O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* a reference is a name, not a way out: nothing above images/, no links */
	int fd = images < 0 ? -errno
			    : open_how(images, reference, O_PATH | O_DIRECTORY,
				       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

	if (fd == -ENOENT || fd == -ENOTDIR)
		return err_set(err, -ENOENT,
			       "image \"%s\" is not on this host: put its files into the folder "
			       "%s/images/%s",
			       reference, h->paths.lib, reference);
	if (fd == -EXDEV || fd == -ELOOP)
		return err_set(err, -EINVAL,
			       "image \"%s\": must name a folder below %s/images, not by way of "
			       "\"..\" or a symbolic link",
			       reference, h->paths.lib);
	if (fd < 0)
		return err_errno(err, fd, "image \"%s\"", reference);
	if (faccessat(fd, "oci-layout", F_OK, 0) == 0) {
		(void)fd_close(fd);
		return err_set(
			err, -ENOTSUP,
			"image \"%s\": %s/images/%s is an OCI layout, which is not supported "
			"yet: put the image's files themselves into that folder",
			reference, h->paths.lib, reference);
	}
	*ret = fd;
	return 0;
}

static int copy_all(int to, int from, off_t size)
{
	off_t done = 0;

	while (done < size) {
		ssize_t n = sendfile(to, from, &done, (size_t)(size - done));

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -EIO; /* it became shorter under our hands */
	}
	return 0;
}

/* One copy of a file serves every VM that boots it: nobody can change it, not even we. */
struct image {
	struct image *next;
	struct stat st; /* of the file when it was copied */
	int memfd;	/* owned */
};

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static const struct image *find_copy(const struct handler *h, const struct stat *st)
{
	for (const struct image *i = h->images; i; i = i->next)
		if (same_file(&i->st, st))
			return i;
	return NULL;
}

void images_drop(struct handler *h)
{
	while (h->images) {
		struct image *i = h->images;

		h->images = i->next;
		(void)fd_close(i->memfd);
		free(i);
	}
}

static int copy_sealed(int file, off_t size, int *ret)
{
	_cleanup_fd_ int mem = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r;

	if (mem < 0)
		return -errno;
	r = copy_all(mem, file, size);
	if (r < 0)
		return r;
	if (fchmod(mem, 0444) < 0 ||
	    fcntl(mem, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		return -errno;
	*ret = TAKE_FD(mem);
	return 0;
}

/* What the file was before: VMs that run hold it themselves. */
static void drop_older(struct handler *h, const struct stat *st)
{
	for (struct image **p = &h->images; *p;) {
		struct image *i = *p;

		if (i->st.st_dev != st->st_dev || i->st.st_ino != st->st_ino) {
			p = &i->next;
			continue;
		}
		*p = i->next;
		(void)fd_close(i->memfd);
		free(i);
	}
}

static int keep_copy(struct handler *h, int file, const struct stat *st, struct image **ret)
{
	int mem = -1, r = copy_sealed(file, st->st_size, &mem);
	struct stat after;

	if (r == 0 && (fstat(file, &after) < 0 || !same_file(st, &after))) {
		mem = fd_close(mem);
		r = -EBUSY; /* somebody writes it just now: the copy may be torn */
	}
	if (r < 0)
		return r;
	drop_older(h, st);
	*ret = xcalloc(1, sizeof **ret);
	**ret = (struct image){.next = h->images, .st = *st, .memfd = mem};
	h->images = *ret;
	return 0;
}

static int open_file(struct handler *h, const char *reference, const char *path, int *ret,
		     struct stat *ret_st, struct err *err)
{
	_cleanup_fd_ int image = -1, file = -1;
	int r = open_image(h, reference, &image, err);

	if (r < 0)
		return r;
	file = open_how(image, path, O_RDONLY | O_NONBLOCK,
			RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	if (file < 0)
		return err_errno(err, file, "image \"%s\": %s", reference, path);
	if (fstat(file, ret_st) < 0)
		return err_errno(err, -errno, "image \"%s\": %s", reference, path);
	if (!S_ISREG(ret_st->st_mode) || (uint64_t)ret_st->st_size > IMAGE_FILE_MAX ||
	    ret_st->st_size == 0)
		return err_set(err, -EINVAL,
			       "image \"%s\": %s: must be a regular file of 1 byte to 1 GiB",
			       reference, path);
	*ret = TAKE_FD(file);
	return 0;
}

int images_load(struct handler *h, const char *reference, const char *path, int *ret_memfd,
		struct err *err)
{
	_cleanup_fd_ int file = -1;
	const struct image *copy;
	struct image *made = NULL;
	struct stat st;
	int fd, r = open_file(h, reference, path, &file, &st, err);

	if (r < 0)
		return r;
	copy = find_copy(h, &st);
	if (!copy) {
		r = keep_copy(h, file, &st, &made);
		if (r < 0)
			return err_errno(err, r, "image \"%s\": %s: copy", reference, path);
		copy = made;
	}
	fd = fcntl(copy->memfd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return err_errno(err, -errno, "image \"%s\": %s", reference, path);
	*ret_memfd = fd;
	return 0;
}
