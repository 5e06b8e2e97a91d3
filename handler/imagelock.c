// SPDX-License-Identifier: Apache-2.0
#include "handler/imagelock.h"

#include "lib/file.h"
#include "lib/util.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* QEMU: RAW_LOCK_PERM_BASE, RAW_LOCK_SHARED_BASE; bit numbers of BLK_PERM_* */
#define PERM_BASE   100
#define SHARED_BASE 200
enum { PERM_CONSISTENT_READ, PERM_WRITE, PERM_WRITE_UNCHANGED, PERM_RESIZE, PERM_COUNT };

static int lock_byte(int fd, off_t start)
{
	struct flock fl = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = 1};

	return fcntl(fd, F_OFD_SETLK, &fl) < 0 ? -errno : 0;
}

/* Would a write lock be refused, that is: does somebody else hold this byte? */
static int byte_is_held(int fd, off_t start)
{
	struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = 1};

	if (fcntl(fd, F_OFD_GETLK, &fl) < 0)
		return -errno;
	return fl.l_type != F_UNLCK;
}

static bool process_has(const char *pid, const struct stat *want)
{
	_cleanup_dir_ DIR *dir = NULL;
	struct dirent *de;
	char path[320];

	(void)snprintf(path, sizeof path, "/proc/%s/fd", pid);
	dir = opendir(path);
	while (dir && (de = readdir(dir))) {
		struct stat st;

		if (fstatat(dirfd(dir), de->d_name, &st, 0) == 0 && st.st_dev == want->st_dev &&
		    st.st_ino == want->st_ino)
			return true;
	}
	return false;
}

/* A process gives itself any name, and this one goes into a condition and onto terminals. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

/* OFD locks tell no pid; who has the file open, besides us, is the best that can be said. */
static void find_holder(int fd, char *buf, size_t size)
{
	_cleanup_dir_ DIR *proc = opendir("/proc");
	struct dirent *de;
	struct stat st;

	(void)snprintf(buf, size, "another disk or VM that starts now");
	if (!proc || fstat(fd, &st) < 0)
		return;
	while ((de = readdir(proc))) {
		char path[320], comm[32];

		if (!isdigit((unsigned char)de->d_name[0]) || atoi(de->d_name) == getpid() ||
		    !process_has(de->d_name, &st))
			continue;
		(void)snprintf(path, sizeof path, "/proc/%s/comm", de->d_name);
		if (file_read_line_at(AT_FDCWD, path, comm, sizeof comm) == 0) {
			make_printable(comm);
			(void)snprintf(buf, size, "process %.20s (%.20s)", de->d_name, comm);
			return;
		}
	}
}

int imagelock_take(int fd, const char *path, bool write, bool shareable, struct err *err)
{
	unsigned perms = 1u << PERM_CONSISTENT_READ;
	unsigned unshared = shareable ? 0 : 1u << PERM_WRITE | 1u << PERM_RESIZE;
	char holder[64];
	int r = 0;

	if (write)
		perms |= 1u << PERM_WRITE | 1u << PERM_RESIZE;
	/* announce first, then look: two that start at once see each other */
	for (int i = 0; r == 0 && i < PERM_COUNT; i++) {
		if (perms & (1u << i))
			r = lock_byte(fd, PERM_BASE + i);
		if (r == 0 && (unshared & (1u << i)))
			r = lock_byte(fd, SHARED_BASE + i);
	}
	for (int i = 0; r == 0 && i < PERM_COUNT; i++) {
		if (perms & (1u << i))
			r = byte_is_held(fd, SHARED_BASE + i);
		if (r == 0 && (unshared & (1u << i)))
			r = byte_is_held(fd, PERM_BASE + i);
	}
	if (r < 0 && r != -EAGAIN && r != -EACCES)
		return err_errno(err, r, "%s: lock", path);
	if (r == 0)
		return 0;
	find_holder(fd, holder, sizeof holder);
	return err_set(err, -EBUSY, "%s: in use by %s; two writers would destroy it", path, holder);
}
