// SPDX-License-Identifier: Apache-2.0
/* Whole small files and folders, always relative to a directory fd. Bare negative errno; nothing is logged. */
#pragma once

#include <dirent.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Read a whole file of at most `max` bytes (kernel files report no size, so it reads to the end);
 * *ret is NUL-terminated and the caller's to free, *ret_len (may be NULL) excludes the NUL.
 * -EFBIG when the file is longer.
 */
int file_read_at(int dirfd, const char *path, size_t max, char **ret, size_t *ret_len);
int file_read_fd(int fd, size_t max, char **ret, size_t *ret_len);

/* As file_read_at into a caller's buffer, with one trailing newline removed. -EFBIG if too long. */
int file_read_line_at(int dirfd, const char *path, char *buf, size_t size);

/* One open(O_WRONLY|O_TRUNC) and one write of the whole string, as kernel control files want it. */
int file_write_at(int dirfd, const char *path, const char *text);

/* Replace a file by way of a temporary name, fsync and rename; the directory is synced, too. */
int file_replace_at(int dirfd, const char *path, const void *data, size_t len, mode_t mode);

/* A folder to be read, *ret the caller's. -ENOENT says that there is none; other errors say nothing of it. */
int dir_open_at(int dirfd, const char *path, DIR **ret);
int dir_open_fd(int fd_consume, DIR **ret);

/* All of `len` bytes, over short writes and EINTR. */
int fd_write_all(int fd, const void *data, size_t len);

/* mkdir -p below dirfd; existing directories are fine, -ENOTDIR if something else is there. */
int mkdir_p_at(int dirfd, const char *path, mode_t mode);

/* Remove a tree below dirfd without following symbolic links or crossing a mount point. -ENOENT is 0. */
int rm_rf_at(int dirfd, const char *path);
