// SPDX-License-Identifier: Apache-2.0
#include "handler/images.h"

#include "handler/oci.h"

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
	struct stat st; /* of the file, or of the layout's index, when it was copied */
	char *path;	/* in a layout; NULL: the file itself */
	int memfd;	/* owned */
};

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static const struct image *find_copy(const struct handler *h, const struct stat *st,
				     const char *path)
{
	for (const struct image *i = h->images; i; i = i->next)
		if (same_file(&i->st, st) && str_eq(i->path, path))
			return i;
	return NULL;
}

static void image_free(struct image *i)
{
	(void)fd_close(i->memfd);
	free(i->path);
	free(i);
}

void images_drop(struct handler *h)
{
	h->images_timer = sd_event_source_disable_unref(h->images_timer);
	while (h->images) {
		struct image *i = h->images;

		h->images = i->next;
		image_free(i);
	}
}

#define KEEP_USEC (30 * 1000000ull)

static int on_unused(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct handler *h = userdata;

	(void)source;
	(void)usec;
	if (!h->pods)
		images_drop(h);
	return 0;
}

void images_unused(struct handler *h)
{
	h->images_timer = sd_event_source_disable_unref(h->images_timer);
	if (sd_event_add_time_relative(h->event, &h->images_timer, CLOCK_MONOTONIC, KEEP_USEC,
				       /* accuracy= */ 0, on_unused, h) < 0)
		images_drop(h);
}

static int seal(int mem)
{
	return fchmod(mem, 0444) < 0 ||
			       fcntl(mem, F_ADD_SEALS,
				     F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0
		       ? -errno
		       : 0;
}

/* What the file was before: VMs that run hold it themselves. */
static void drop_older(struct handler *h, const struct stat *st, const char *path)
{
	for (struct image **p = &h->images; *p;) {
		struct image *i = *p;

		if (i->st.st_dev == st->st_dev && i->st.st_ino == st->st_ino &&
		    str_eq(i->path, path)) {
			*p = i->next;
			image_free(i);
		} else {
			p = &i->next;
		}
	}
}

/* What a copy is made from: a file, or the file `path` of a layout in the folder `dir`. */
struct source {
	int file; /* owned; of a layout its index */
	int dir;  /* owned; -1: not a layout */
	const char *path;
	struct stat st;
};

static void source_close(struct source *s)
{
	s->file = fd_close(s->file);
	s->dir = fd_close(s->dir);
}

static int copy_source(const struct source *s, int mem, struct err *err)
{
	struct stat after;
	int r;

	if (s->dir >= 0)
		r = oci_extract(s->dir, s->path, mem, IMAGE_FILE_MAX, err);
	else
		r = copy_all(mem, s->file, s->st.st_size);
	if (r == 0)
		r = seal(mem);
	if (r == 0 && (fstat(s->file, &after) < 0 || !same_file(&s->st, &after)))
		r = -EBUSY; /* somebody writes it just now: the copy may be torn */
	return r < 0 ? err_errno(err, r, "copy") : 0;
}

/* The kept copy's descriptor, borrowed. */
static int keep_copy(struct handler *h, const struct source *s, struct err *err)
{
	_cleanup_fd_ int mem = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	const char *path = s->dir >= 0 ? s->path : NULL;
	struct image *i;
	int r;

	if (mem < 0)
		return err_errno(err, -errno, "memfd");
	r = copy_source(s, mem, err);
	if (r < 0)
		return r;
	drop_older(h, &s->st, path);
	i = xcalloc(1, sizeof *i);
	*i = (struct image){
		.next = h->images, .st = s->st, .path = xstrdup(path), .memfd = TAKE_FD(mem)};
	h->images = i;
	return i->memfd;
}

static int check_file(struct source *s, struct err *err)
{
	if (fstat(s->file, &s->st) < 0)
		return err_errno(err, -errno, "stat");
	if (!S_ISREG(s->st.st_mode) || (uint64_t)s->st.st_size > IMAGE_FILE_MAX ||
	    s->st.st_size == 0)
		return err_set(err, -EINVAL, "must be a regular file of 1 byte to 1 GiB");
	return 0;
}

static int open_source(struct handler *h, const char *reference, struct source *s, struct err *err)
{
	_cleanup_fd_ int image = -1;
	int r = open_image(h, reference, &image, err);

	if (r < 0)
		return r;
	if (oci_is_layout(image)) {
		s->dir = openat(image, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (s->dir < 0)
			return err_errno(err, -errno, "image \"%s\"", reference);
	}
	s->file = open_how(image, s->dir >= 0 ? "index.json" : s->path, O_RDONLY | O_NONBLOCK,
			   RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	r = s->file < 0 ? err_errno(err, s->file, "open") : check_file(s, err);
	if (r < 0)
		err_prefix(err, "image \"%s\": %s", reference, s->path);
	return r;
}

int images_load(struct handler *h, const char *reference, const char *path, int *ret_memfd,
		struct err *err)
{
	_cleanup_(source_close) struct source s = {.file = -1, .dir = -1, .path = path};
	const struct image *copy;
	int mem, fd, r = open_source(h, reference, &s, err);

	if (r < 0)
		return r;
	copy = find_copy(h, &s.st, s.dir >= 0 ? path : NULL);
	mem = copy ? copy->memfd : keep_copy(h, &s, err);
	if (mem < 0) {
		err_prefix(err, "image \"%s\": %s", reference, path);
		return mem;
	}
	fd = fcntl(mem, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return err_errno(err, -errno, "image \"%s\": %s", reference, path);
	*ret_memfd = fd;
	return 0;
}
