// SPDX-License-Identifier: Apache-2.0
#include "lib/logfile.h"

#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 65536

void logfile_done(struct logfile *l)
{
	l->fd = fd_close(l->fd);
}

int logfile_open(int fd_consume, uint64_t max, struct logfile *ret)
{
	_cleanup_fd_ int fd = fd_consume;
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || (flags & O_ACCMODE) != O_RDWR)
		return -EINVAL;
	/* pwrite appends, whatever its offset, while O_APPEND is set */
	if ((flags & O_APPEND) && fcntl(fd, F_SETFL, flags & ~O_APPEND) < 0)
		return -errno;
	*ret = (struct logfile){.fd = TAKE_FD(fd), .size = (uint64_t)st.st_size, .max = max};
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

/* Exactly max / 2 bytes, so that a reader knows by how much to go back. */
static int drop_older(struct logfile *l)
{
	_cleanup_free_ char *buf = xcalloc(1, BLOCK);
	uint64_t from = l->max / 2, keep = l->size - from, to = 0;

	while (to < keep) {
		size_t want = keep - to < BLOCK ? (size_t)(keep - to) : BLOCK;
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

int logfile_write(struct logfile *l, const char *data, size_t len)
{
	bool reported = l->broken;
	int r = 0;

	if (l->fd < 0)
		return 0;
	while (r == 0 && l->size + len > l->max && l->size >= l->max / 2)
		r = drop_older(l);
	if (r == 0)
		r = write_at(l->fd, data, len, l->size);
	if (r == 0)
		l->size += len;
	l->broken = r < 0;
	return reported ? 0 : r;
}

ssize_t logfile_read(int fd, uint64_t max, uint64_t *pos, char *buf, size_t size)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size < *pos)
		*pos = *pos > max / 2 ? *pos - max / 2 : 0;
	do
		n = pread(fd, buf, size, (off_t)*pos);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	*pos += (uint64_t)n;
	return n;
}

int logfile_tail(int fd, uint64_t max, uint64_t lines, uint64_t *ret_pos)
{
	_cleanup_free_ char *buf = xcalloc(1, BLOCK);
	off_t end = lseek(fd, 0, SEEK_END), at;

	if (end < 0)
		return -errno;
	if (!lines) {
		*ret_pos = (uint64_t)end;
		return 0;
	}
	if ((uint64_t)end > max) /* whoever wrote it, it must not cost more than that */
		end = (off_t)max;
	at = end;
	while (at > 0) {
		off_t from = at > BLOCK ? at - BLOCK : 0;
		ssize_t n = pread(fd, buf, (size_t)(at - from), from);

		if (n < 0)
			return -errno;
		for (ssize_t i = n - 1; i >= 0; i--) {
			if (buf[i] != '\n' || from + i == end - 1) /* the end of the last line */
				continue;
			if (lines == 1) {
				*ret_pos = (uint64_t)(from + i + 1);
				return 0;
			}
			lines--;
		}
		at = from;
	}
	*ret_pos = 0;
	return 0;
}
