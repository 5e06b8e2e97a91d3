// SPDX-License-Identifier: Apache-2.0
#include "handler/proc.h"

#include "lib/file.h"
#include "lib/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>

uint64_t proc_start(pid_t pid)
{
	char path[64], line[1024];
	const char *p;

	(void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
	if (pid <= 0 || file_read_line_at(AT_FDCWD, path, line, sizeof line) < 0)
		return 0;
	p = strrchr(line, ')'); /* the name in parentheses may hold anything */
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

bool proc_is(pid_t pid, uint64_t start)
{
	return start && proc_start(pid) == start;
}

int proc_pidfd(pid_t pid, uint64_t start, int *ret)
{
	_cleanup_fd_ int fd = -1;

	if (pid <= 0)
		return -ESRCH;
	fd = pidfd_open(pid, 0);
	if (fd < 0) {
		int r = -errno; /* EINVAL or ENOENT when the number is a thread's now */

		return proc_is(pid, start) ? r : -ESRCH;
	}
	/* with the pidfd in hand the number can't be reused between this look and its use */
	if (!proc_is(pid, start))
		return -ESRCH;
	*ret = TAKE_FD(fd);
	return 0;
}

bool proc_has_ended(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return poll(&p, 1, /* timeout= */ 0) > 0;
}

/* Innermost number of a task by its status file; 0 when it has gone. */
static pid_t inner_number(const char *status_path)
{
	_cleanup_free_ char *text = NULL;
	const char *p, *end;

	if (file_read_at(AT_FDCWD, status_path, 64 * 1024, &text, NULL) < 0)
		return 0;
	p = strstr(text, "\nNSpid:");
	if (!p)
		return 0;
	end = strchr(p + 1, '\n');
	while (end && end > p && end[-1] != '\t')
		end--;
	return end ? (pid_t)strtol(end, NULL, 10) : 0;
}

bool proc_sees_kernel(void)
{
	char name[32];

	return file_read_line_at(AT_FDCWD, "/proc/2/comm", name, sizeof name) == 0 &&
	       str_eq(name, "kthreadd");
}

bool proc_is_kernel(pid_t pid)
{
	char path[64], line[1024];
	const char *p;

	if (!proc_sees_kernel())
		return false;
	(void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
	if (file_read_line_at(AT_FDCWD, path, line, sizeof line) < 0)
		return false;
	p = strrchr(line, ')'); /* then state and parent; a status file's "Kthread:" is of 6.11 */
	return p && strlen(p) > 4 && strtol(p + 4, NULL, 10) == 2;
}

int proc_thread_by_inner(pid_t pid, pid_t inner, pid_t *ret)
{
	_cleanup_dir_ DIR *dir = NULL;
	struct dirent *de;
	char path[320];

	if (pid <= 0 || inner <= 0)
		return -ESRCH;
	(void)snprintf(path, sizeof path, "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((de = readdir(dir))) {
		if (de->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof path, "/proc/%d/task/%s/status", pid, de->d_name);
		if (inner_number(path) == inner) {
			*ret = (pid_t)strtol(de->d_name, NULL, 10);
			return 0;
		}
	}
	return -ESRCH;
}

int proc_child_by_inner(pid_t pid1, pid_t inner, pid_t *ret)
{
	_cleanup_free_ char *text = NULL;
	char path[64], *save = NULL;
	int r;

	if (pid1 <= 0 || inner <= 0)
		return -ESRCH;
	(void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid1, pid1);
	r = file_read_at(AT_FDCWD, path, 64 * 1024, &text, NULL);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	for (char *w = strtok_r(text, " \n", &save); w; w = strtok_r(NULL, " \n", &save)) {
		pid_t pid = (pid_t)strtol(w, NULL, 10);

		(void)snprintf(path, sizeof path, "/proc/%d/status", pid);
		if (inner_number(path) == inner) {
			*ret = pid;
			return 0;
		}
	}
	return -ESRCH;
}
