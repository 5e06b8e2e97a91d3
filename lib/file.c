// SPDX-License-Identifier: Apache-2.0
#include "lib/file.h"

#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int file_read_fd(int fd, size_t max, char **ret, size_t *ret_len)
{
	_cleanup_free_ char *buf = NULL;
	size_t len = 0, cap = 0;

	for (;;) {
		ssize_t n;

		if (cap - len < 2) {
			cap = cap ? cap * 2 : 4096;
			buf = xrealloc(buf, cap, 1);
		}
		n = read(fd, buf + len, cap - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
		if (len > max)
			return -EFBIG;
	}
	buf[len] = 0;
	*ret = TAKE_PTR(buf);
	if (ret_len)
		*ret_len = len;
	return 0;
}

int file_read_at(int dirfd, const char *path, size_t max, char **ret, size_t *ret_len)
{
	_cleanup_fd_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : file_read_fd(fd, max, ret, ret_len);
}

int file_read_line_at(int dirfd, const char *path, char *buf, size_t size)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = file_read_at(dirfd, path, size, &text, &len);

	if (r < 0)
		return r;
	if (len && text[len - 1] == '\n')
		text[--len] = 0;
	if (len >= size)
		return -EFBIG;
	memcpy(buf, text, len + 1);
	return 0;
}

int file_write_at(int dirfd, const char *path, const char *text)
{
	_cleanup_fd_ int fd = openat(dirfd, path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
	size_t len = strlen(text);
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = write(fd, text, len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EIO;
}

int fd_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int sync_dir_of(int dirfd, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *dir = slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup(".");
	_cleanup_fd_ int fd = openat(dirfd, *dir ? dir : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return -errno;
	return 0;
}

int file_replace_at(int dirfd, const char *path, const void *data, size_t len, mode_t mode)
{
	_cleanup_free_ char *tmp = xasprintf("%s.new", path);
	_cleanup_fd_ int fd = -1;
	int r;

	if (unlinkat(dirfd, tmp, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	r = fd_write_all(fd, data, len);
	if (!r && (fchmod(fd, mode) < 0 || fsync(fd) < 0))
		r = -errno;
	if (!r && renameat(dirfd, tmp, dirfd, path) < 0)
		r = -errno;
	if (r) {
		(void)unlinkat(dirfd, tmp, 0); /* the first error is the one to report */
		return r;
	}
	return sync_dir_of(dirfd, path);
}

int mkdir_p_at(int dirfd, const char *path, mode_t mode)
{
	_cleanup_free_ char *p = xstrdup(path);
	struct stat st;

	for (char *s = p + 1; *p; s++) {
		char c = *s;

		if (c && c != '/')
			continue;
		*s = 0;
		if (mkdirat(dirfd, p, mode) < 0 && errno != EEXIST)
			return -errno;
		*s = c;
		if (!c)
			break;
	}
	if (fstatat(dirfd, path, &st, 0) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int dir_open_fd(int fd_consume, DIR **ret)
{
	DIR *dir = fdopendir(fd_consume);

	if (!dir) {
		int r = -errno;

		(void)fd_close(fd_consume);
		return r;
	}
	*ret = dir;
	return 0;
}

int dir_open_at(int dirfd, const char *path, DIR **ret)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : dir_open_fd(fd, ret);
}

static int rm_dir_content(int fd_consume, dev_t dev);

static int rm_entry(int dirfd, const char *name, dev_t dev)
{
	struct stat st;
	int fd, r;

	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_dev != dev) {
		(void)fd_close(fd);
		return -EXDEV;
	}
	r = rm_dir_content(fd, dev);
	if (r < 0)
		return r;
	return unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

static int rm_dir_content(int fd_consume, dev_t dev)
{
	_cleanup_dir_ DIR *dir = NULL;
	struct dirent *de;
	int r = dir_open_fd(fd_consume, &dir);

	if (r < 0)
		return r;
	while ((errno = 0, de = readdir(dir))) {
		if (str_eq(de->d_name, ".") || str_eq(de->d_name, ".."))
			continue;
		r = rm_entry(dirfd(dir), de->d_name, dev);
		if (r < 0)
			return r;
	}
	return -errno;
}

int rm_rf_at(int dirfd, const char *path)
{
	struct stat st;

	if (fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	return rm_entry(dirfd, path, st.st_dev);
}
