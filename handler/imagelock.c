// SPDX-License-Identifier: Apache-2.0
#include "handler/imagelock.h"

#include "lib/file.h"
#include "lib/util.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
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

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
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

		if (fstatat(dirfd(dir), de->d_name, &st, 0) == 0 && is_same(&st, want))
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

/* A disk of this pod or of one that starts now, whose descriptors are still in this process. */
static bool find_disk(const struct pod *pod, const struct stat *want, char *buf, size_t size)
{
	for (const struct pod *p = pod->h->pods; p; p = p->next)
		for (unsigned i = 0; i < p->n_fds; i++) {
			const char *disk = str_after(p->fds[i].name, "disk:");
			struct stat st;

			if (!disk || fstat(p->fds[i].fd, &st) < 0 || !is_same(&st, want))
				continue;
			if (p == pod)
				(void)snprintf(buf, size, "disk '%s' of this VM", disk);
			else
				(void)snprintf(buf, size, "VM %s/%s", p->record.ns, p->record.name);
			return true;
		}
	return false;
}

/* The pod whose group a process is in; nobody leaves it. NULL: none of ours. */
static const struct pod *pod_of(const struct pod *pods, const char *pid)
{
	_cleanup_free_ char *groups = NULL;
	char path[320];

	(void)snprintf(path, sizeof path, "/proc/%s/cgroup", pid);
	if (file_read_at(AT_FDCWD, path, 64 * 1024, &groups, NULL) < 0)
		return NULL;
	while (pods && !strstr(groups, pods->record.uid))
		pods = pods->next;
	return pods;
}

/* Write who this is; false: gone meanwhile. */
static bool name_process(const struct pod *vm, const char *pid, char *buf, size_t size)
{
	char path[320], comm[32];

	(void)snprintf(path, sizeof path, "/proc/%s/comm", pid);
	if (file_read_line_at(AT_FDCWD, path, comm, sizeof comm) < 0)
		return false;
	make_printable(comm);
	if (vm)
		(void)snprintf(buf, size, "VM %s/%s, process %.20s (%.20s)", vm->record.ns,
			       vm->record.name, pid, comm);
	else
		(void)snprintf(buf, size, "process %.20s (%.20s)", pid, comm);
	return true;
}

/*
 * OFD locks tell no pid; who has the file open, besides us, is the best that can be said. A VM comes before
 * others, which may only look.
 */
static void find_holder(const struct pod *pod, int fd, char *buf, size_t size)
{
	_cleanup_dir_ DIR *proc = opendir("/proc");
	bool named = false;
	struct dirent *de;
	struct stat st;

	(void)snprintf(buf, size, "another disk or VM that starts now");
	if (!proc || fstat(fd, &st) < 0 || find_disk(pod, &st, buf, size))
		return;
	while ((de = readdir(proc))) {
		const struct pod *vm;

		if (!isdigit((unsigned char)de->d_name[0]) || atoi(de->d_name) == getpid() ||
		    !process_has(de->d_name, &st))
			continue;
		vm = pod_of(pod->h->pods, de->d_name);
		if ((vm || !named) && name_process(vm, de->d_name, buf, size))
			named = true;
		if (vm)
			return;
	}
}

int imagelock_take(const struct pod *pod, int fd, const char *path, bool write, bool shareable,
		   struct err *err)
{
	unsigned perms = 1u << PERM_CONSISTENT_READ;
	unsigned unshared = shareable ? 0 : 1u << PERM_WRITE | 1u << PERM_RESIZE;
	char holder[400]; /* namespaces and names: 63 and 253 */
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
	find_holder(pod, fd, holder, sizeof holder);
	return err_set(err, -EBUSY, "%s: in use by %s; two writers would destroy it", path, holder);
}
