// SPDX-License-Identifier: Apache-2.0
#include "handler/inspect_internal.h"

#include "handler/proc.h"

#include "lib/json.h"
#include "lib/util.h"
#include "sandbox/procfs.h"
#include "sandbox/read.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Entries of one folder that are shown; a pod's own root and /dev have a dozen. */
#define ENTRIES_MAX 512

/* By the number that was recorded when it was made, or checked when it was found: names can be chosen. */
static const char *name_of(const struct pod *pod, pid_t pid)
{
	if (pid == pod->record.pid)
		return "launcher";
	return pod->qemu_pid && pid == pod->qemu_pid ? "qemu" : "other";
}

static int by_text(const void *a, const void *b)
{
	return strcmp(json_string_value(*(json_t *const *)a),
		      json_string_value(*(json_t *const *)b));
}

/* Names in a folder of the process's root, in order; null when it can't be read. */
static json_t *entries(pid_t pid, const char *folder)
{
	json_t *names[ENTRIES_MAX], *list;
	_cleanup_dir_ DIR *dir = NULL;
	struct dirent *de;
	char path[64];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "/proc/%d/root%s", pid, folder);
	dir = opendir(path);
	if (!dir)
		return json_null();
	while (n < ENTRIES_MAX && (de = readdir(dir))) {
		if (str_eq(de->d_name, ".") || str_eq(de->d_name, ".."))
			continue;
		names[n++] = procfs_text(de->d_name);
	}
	qsort(names, n, sizeof *names, by_text);
	list = json_array();
	for (size_t i = 0; i < n; i++)
		(void)json_array_append_new(list, names[i]);
	return list;
}

static json_t *namespaces(const json_t *raw)
{
	json_t *all = json_object(), *ns;
	const char *name;

	json_object_foreach (json_object_get(raw, "namespaces"), name, ns)
		(void)json_object_set_new(all, name,
					  json_pack("{s:O, s:O}", "inode",
						    json_object_get(ns, "inode"), "host",
						    json_object_get(ns, "shared")));
	return all;
}

static json_t *threads(const struct inspect *in, pid_t pid, const char *name, const json_t *raw)
{
	json_t *all = json_array(), *thread;
	size_t i;

	json_array_foreach (json_object_get(raw, "threads"), i, thread) {
		json_t *shown = inspect_thread(in, pid, name, thread);

		if (shown)
			(void)json_array_append_new(all, shown);
	}
	return all;
}

static json_t *process_json(const struct inspect *in, pid_t pid, const json_t *raw)
{
	static const struct {
		const char *from, *to;
	} same[] = {
		{"pid", "pid"},		{"comm", "comm"},
		{"uids", "uids"},	{"gids", "gids"},
		{"groups", "groups"},	{"uidMap", "uidMap"},
		{"gidMap", "gidMap"},	{"capabilities", "capabilities"},
		{"seccomp", "seccomp"}, {"noNewPrivs", "noNewPrivs"},
		{"limits", "limits"},	{"dumpable", "dumpable"},
		{"mounts", "mounts"},	{"fds", "openFiles"},
	};
	const json_t *inner = json_object_get(raw, "nsPid");
	const char *name = name_of(in->pod, pid);
	json_t *out = json_object();

	(void)json_object_set_new(out, "name", json_string(name));
	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		(void)json_object_set(out, same[i].to, json_object_get(raw, same[i].from));
	(void)json_object_set(out, "innerPid", json_array_get(inner, json_array_size(inner) - 1));
	(void)json_object_set_new(out, "namespaces", namespaces(raw));
	(void)json_object_set_new(out, "rootEntries", entries(pid, "/"));
	(void)json_object_set_new(out, "devEntries", entries(pid, "/dev"));
	(void)json_object_set_new(out, "threads", threads(in, pid, name, raw));
	return out;
}

/* vhost's and KVM's threads join the groups of the thread that made them; they have nothing of a pod. */
static json_t *kernel_thread(const struct inspect *in, pid_t pid, const json_t *raw)
{
	return inspect_thread(in, pid, "kernel", json_get(raw, "threads[0]"));
}

int inspect_processes(const struct inspect *in, json_t **ret, json_t **ret_kernel, struct err *err)
{
	_cleanup_json_ json_t *list = json_array(), *kernel = json_array();
	_cleanup_free_ pid_t *pids = NULL;
	size_t n = 0;
	int r = inspect_pids(in, &pids, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		_cleanup_json_ json_t *raw = NULL, *process = NULL;
		bool is_kernel = proc_is_kernel(pids[i]);
		struct err why = {0};

		r = sandbox_read_process(pids[i], &raw, &why);
		if (r == 0)
			process = is_kernel ? kernel_thread(in, pids[i], raw)
					    : process_json(in, pids[i], raw);
		if (process && inspect_is_ours(in, pids[i], pids, n))
			(void)json_array_append(is_kernel ? kernel : list, process);
		r = r < 0 && r != -ESRCH ? err_set(err, r, "%s", why.msg) : 0;
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(list);
	*ret_kernel = TAKE_PTR(kernel);
	return 0;
}

const json_t *inspect_find(const json_t *processes, const char *name)
{
	return json_find(processes, "name", name);
}
