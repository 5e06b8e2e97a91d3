// SPDX-License-Identifier: Apache-2.0
#include "sandbox/read.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/util.h"
#include "sandbox/mountinfo.h"
#include "sandbox/procfs.h"
#include "sandbox/status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAT_MAX 4096 /* 52 numbers and a name */

static void read_ids(const char *status, json_t *out)
{
	json_object_set_new(out, "uids", procfs_numbers(status, "Uid"));
	json_object_set_new(out, "gids", procfs_numbers(status, "Gid"));
	json_object_set_new(out, "groups", procfs_numbers(status, "Groups"));
	json_object_set_new(out, "nsPid", procfs_numbers(status, "NSpid"));
}

static void read_privileges(const char *status, json_t *out)
{
	static const struct {
		const char *key, *name;
	} sets[] = {
		{"CapInh", "inheritable"}, {"CapPrm", "permitted"}, {"CapEff", "effective"},
		{"CapBnd", "bounding"},	   {"CapAmb", "ambient"},
	};
	static const char *const modes[] = {"disabled", "strict", "filter"};
	json_t *caps = json_object(), *seccomp = json_object();
	uint64_t mode = procfs_number(status, "Seccomp");

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		json_object_set_new(caps, sets[i].name, procfs_field(status, sets[i].key));
	json_object_set_new(out, "capabilities", caps);
	json_object_set_new(out, "noNewPrivs",
			    json_boolean(procfs_number(status, "NoNewPrivs") == 1));
	json_object_set_new(seccomp, "mode",
			    mode < ARRAY_SIZE(modes) ? json_string(modes[mode]) : json_null());
	json_object_set_new(seccomp, "filters",
			    json_integer((json_int_t)procfs_number(status, "Seccomp_filters")));
	json_object_set_new(out, "seccomp", seccomp);
}

/*
 * The kernel gives the files of a process that isn't dumpable to root (proc(5)); of one that runs as
 * root they are root's anyway, which tells nothing: null.
 */
static int read_dumpable(int proc, const char *status, json_t *out)
{
	uint64_t euid;
	json_t *uids = procfs_numbers(status, "Uid");
	struct stat st;

	euid = (uint64_t)json_integer_value(json_array_get(uids, 1));
	json_decref(uids);
	if (fstatat(proc, "stat", &st, 0) < 0)
		return -errno;
	json_object_set_new(out, "dumpable", euid ? json_boolean(st.st_uid == euid) : json_null());
	return 0;
}

static int read_namespaces(int proc, json_t *out)
{
	static const char *const names[] = {"cgroup", "ipc",  "mnt",  "net",
					    "pid",    "time", "user", "uts"};
	_cleanup_json_ json_t *all = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[32], own_path[32];
		struct stat st, own;
		json_t *ns;

		(void)snprintf(path, sizeof path, "ns/%s", names[i]);
		(void)snprintf(own_path, sizeof own_path, "/proc/self/ns/%s", names[i]);
		if (fstatat(proc, path, &st, 0) < 0 || stat(own_path, &own) < 0)
			return -errno;
		ns = json_object();
		json_object_set_new(ns, "inode", json_integer((json_int_t)st.st_ino));
		json_object_set_new(
			ns, "shared",
			json_boolean(st.st_ino == own.st_ino && st.st_dev == own.st_dev));
		json_object_set_new(all, names[i], ns);
	}
	json_object_set_new(out, "namespaces", TAKE_PTR(all));
	return 0;
}

static int read_mounts(int proc, json_t *out)
{
	_cleanup_json_ json_t *all = json_array();
	_cleanup_free_ char *text = NULL;
	struct mountinfo m;
	char *next;
	int r = file_read_at(proc, "mountinfo", MOUNTINFO_MAX, &text, NULL);

	if (r < 0)
		return r;
	next = text;
	while ((r = mountinfo_next(&next, &m)) > 0) {
		json_t *mount = json_object();

		json_object_set_new(mount, "root", procfs_text(m.root));
		json_object_set_new(mount, "point", procfs_text(m.point));
		json_object_set_new(mount, "options", procfs_text(m.options));
		json_object_set_new(mount, "fs", procfs_text(m.fs));
		json_object_set_new(mount, "source", procfs_text(m.source));
		json_array_append_new(all, mount);
	}
	if (r < 0)
		return r;
	json_object_set_new(out, "mounts", TAKE_PTR(all));
	return 0;
}

static int read_limits(int proc, json_t *out)
{
	_cleanup_free_ char *text = NULL;
	json_t *all;
	int r = file_read_at(proc, "limits", 16 * 1024, &text, NULL);

	if (r == 0)
		r = procfs_limits(text, &all);
	if (r == 0)
		json_object_set_new(out, "limits", all);
	return r;
}

static int read_link(int dir, const char *name, json_t **ret)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof target - 1);

	if (n < 0)
		return -errno;
	target[n] = 0;
	*ret = procfs_text(target);
	return 0;
}

static int read_fd(int dir, const char *name, void *arg)
{
	json_t *target, *fd;
	int r = read_link(dir, name, &target);

	if (r < 0)
		return r == -ENOENT ? 0 : r; /* closed since it was listed */
	fd = json_object();
	json_object_set_new(fd, "fd", json_integer(atoi(name)));
	json_object_set_new(fd, "target", target);
	json_array_append_new(arg, fd);
	return 0;
}

static int read_files(int proc, json_t *out)
{
	_cleanup_json_ json_t *fds = json_array();
	json_t *root;
	int r = read_link(proc, "root", &root);

	if (r < 0)
		return r;
	json_object_set_new(out, "root", root);
	r = procfs_each(proc, "fd", read_fd, fds);
	if (r < 0)
		return r;
	json_object_set_new(out, "fds", TAKE_PTR(fds));
	return 0;
}

static int read_maps(int proc, json_t *out)
{
	static const struct {
		const char *file, *name;
	} maps[] = {{"uid_map", "uidMap"}, {"gid_map", "gidMap"}};

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		_cleanup_free_ char *text = NULL;
		int r = file_read_at(proc, maps[i].file, 16 * 1024, &text, NULL);

		if (r < 0)
			return r;
		json_object_set_new(out, maps[i].name, procfs_map(text));
	}
	return 0;
}

static int read_thread(int dir, const char *name, void *arg)
{
	_cleanup_fd_ int task = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_json_ json_t *thread = json_object();
	_cleanup_free_ char *status = NULL, *stat = NULL;
	int r;

	if (task < 0)
		return errno == ENOENT ? 0 : -errno; /* ended since it was listed */
	r = file_read_at(task, "status", STATUS_MAX, &status, NULL);
	if (!r)
		r = file_read_at(task, "stat", STAT_MAX, &stat, NULL);
	if (!r)
		r = procfs_scheduling(stat, thread);
	if (r < 0)
		return r == -ESRCH || r == -ENOENT ? 0 : r;
	json_object_set_new(thread, "tid", json_integer(atoi(name)));
	json_object_set_new(thread, "nsTid", procfs_numbers(status, "NSpid"));
	json_object_set_new(thread, "comm", procfs_field(status, "Name"));
	json_object_set_new(thread, "cpus", procfs_field(status, "Cpus_allowed_list"));
	json_object_set_new(thread, "seccompFilters",
			    json_integer((json_int_t)procfs_number(status, "Seccomp_filters")));
	json_object_set_new(thread, "effective", procfs_field(status, "CapEff"));
	json_array_append_new(arg, TAKE_PTR(thread));
	return 0;
}

static int read_threads(int proc, json_t *out)
{
	_cleanup_json_ json_t *all = json_array();
	int r = procfs_each(proc, "task", read_thread, all);

	if (r < 0)
		return r;
	json_object_set_new(out, "threads", TAKE_PTR(all));
	return 0;
}

static int read_all(int proc, json_t *out)
{
	static int (*const parts[])(int proc, json_t *out) = {
		read_namespaces, read_maps, read_mounts, read_limits, read_files, read_threads,
	};
	_cleanup_free_ char *status = NULL;
	int r = file_read_at(proc, "status", STATUS_MAX, &status, NULL);

	if (r < 0)
		return r;
	json_object_set_new(out, "comm", procfs_field(status, "Name"));
	read_ids(status, out);
	read_privileges(status, out);
	r = read_dumpable(proc, status, out);
	for (size_t i = 0; !r && i < ARRAY_SIZE(parts); i++)
		r = parts[i](proc, out);
	return r;
}

int sandbox_read_process(pid_t pid, json_t **ret, struct err *err)
{
	_cleanup_json_ json_t *out = json_object();
	_cleanup_fd_ int proc = -1;
	char path[32];
	int r;

	(void)snprintf(path, sizeof path, "/proc/%d", pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return err_set(err, errno == ENOENT ? -ESRCH : -errno,
			       "sandbox: there is no process %d", pid);
	json_object_set_new(out, "pid", json_integer(pid));
	r = read_all(proc, out);
	if (r == -ENOENT)
		r = -ESRCH; /* what its folder answers once it is gone */
	if (r < 0)
		return err_errno(err, r, "sandbox: reading process %d", pid);
	*ret = TAKE_PTR(out);
	return 0;
}
