// SPDX-License-Identifier: Apache-2.0
#include "launcher/conlog.h"

#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void conlog_done(struct conlog *l)
{
	l->fd = fd_close(l->fd);
}

int conlog_open(int fd_consume, struct conlog *ret, struct err *err)
{
	_cleanup_fd_ int fd = fd_consume;
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st) < 0)
		return err_errno(err, -errno, "console log");
	if (!S_ISREG(st.st_mode) || (flags & O_ACCMODE) != O_RDWR)
		return err_set(err, -EINVAL,
			       "console log: want a regular file open for reading and writing");
	/* pwrite appends, whatever its offset, while O_APPEND is set */
	if ((flags & O_APPEND) && fcntl(fd, F_SETFL, flags & ~O_APPEND) < 0)
		return err_errno(err, -errno, "console log");
	*ret = (struct conlog){.fd = TAKE_FD(fd), .size = (uint64_t)st.st_size};
	return 0;
}

static int write_at(int fd, const char *data, size_t len, uint64_t at)
{
	while (len > 0) {
		ssize_t n = pwrite(fd, data, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
		at += (uint64_t)n;
	}
	return 0;
}

/* Move the newest `keep` bytes to the front and cut off the rest. */
static int drop_older(struct conlog *l, uint64_t keep)
{
	_cleanup_free_ char *buf = xcalloc(1, 64 * 1024);
	uint64_t from = l->size - keep, to = 0;

	while (to < keep) {
		size_t want = keep - to < 64 * 1024 ? (size_t)(keep - to) : 64 * 1024;
		ssize_t n = pread(l->fd, buf, want, (off_t)(from + to));
		int r;

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		r = write_at(l->fd, buf, (size_t)n, to);
		if (r < 0)
			return r;
		to += (uint64_t)n;
	}
	if (ftruncate(l->fd, (off_t)keep) < 0)
		return -errno;
	l->size = keep;
	return 0;
}

void conlog_write(struct conlog *l, const char *data, size_t len)
{
	uint64_t keep;
	int r = 0;

	if (l->fd < 0)
		return;
	if (l->size + len > CONLOG_MAX) {
		keep = l->size < CONLOG_MAX / 2 ? l->size : CONLOG_MAX / 2;
		r = drop_older(l, keep);
	}
	if (r == 0)
		r = write_at(l->fd, data, len, l->size);
	if (r == 0)
		l->size += len;
	else if (!l->broken)
		log_warning("console log: %s, lines are lost, ignoring", strerror(-r));
	l->broken = r < 0;
}
