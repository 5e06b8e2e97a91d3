// SPDX-License-Identifier: Apache-2.0
/*
 * One thread: where it may run, where it last ran, which groups it is in. The role of a vCPU thread
 * comes from the number that was checked when QEMU started; its name is shown beside it, for `verify` to
 * compare. IO threads have nothing but their name.
 */
#include "handler/inspect_internal.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int vcpu_of(const struct pod *pod, pid_t tid)
{
	for (unsigned i = 0; pod->plan && i < plan_vcpus(pod->plan) && i < PLAN_MAX_VCPUS; i++)
		if (pod->vcpu_tids[i] == tid)
			return (int)i;
	return -1;
}

/* QEMU names an iothread object's thread "IO " and its id; its own monitor's one is no guest's. */
static const char *role_of(const char *process, const char *name, int vcpu)
{
	if (!str_eq(process, "qemu"))
		return process;
	if (vcpu >= 0)
		return "vcpu";
	if (str_after(name, "IO ") && !str_eq(name, "IO mon_iothread"))
		return "io";
	return "emulator";
}

/* Field 39 of stat (proc(5)), counted from behind the name, which may hold anything. */
static json_t *last_cpu(const char *folder)
{
	enum { NAME = 2, PROCESSOR = 39 };
	char path[96], line[2048];
	const char *p;

	(void)snprintf(path, sizeof path, "%s/stat", folder);
	if (file_read_line_at(AT_FDCWD, path, line, sizeof line) < 0)
		return json_null();
	p = strrchr(line, ')');
	for (int field = NAME; p && field < PROCESSOR; field++)
		p = strchr(p + 1, ' ');
	return p ? json_integer(strtol(p + 1, NULL, 10)) : json_null();
}

/* Is the thread in `path` of the hierarchy that has this controller ("": the unified one)? */
static bool line_says(const char *line, const char *controller, const char *path)
{
	const char *names = strchr(line, ':'), *end = names ? strchr(++names, ':') : NULL;
	size_t len = strlen(controller);

	if (!end || !str_eq(end + 1, path))
		return false;
	if (!len)
		return names == end;
	for (const char *p = names; p < end; p += strcspn(p, ",:") + 1)
		if (strcspn(p, ",:") == len && !strncmp(p, controller, len))
			return true;
	return false;
}

static const char *controller_of(const char *group)
{
	if (str_eq(group, "unified") || str_eq(group, "emu") || str_eq(group, "vcpu"))
		return "";
	return str_eq(group, "cpusetVcpu") ? "cpuset" : group;
}

/* Those groups of the pod, by the keys of cgroup.paths, that the thread is in; NULL: it has ended. */
static json_t *groups_of(const struct inspect *in, const char *folder)
{
	const json_t *paths = json_object_get(in->cgroup, "paths");
	_cleanup_free_ char *text = NULL;
	char path[96], *save = NULL;
	json_t *list, *value;
	const char *group;

	(void)snprintf(path, sizeof path, "%s/cgroup", folder);
	if (file_read_at(AT_FDCWD, path, 64 * 1024, &text, NULL) < 0)
		return NULL;
	list = json_array();
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		json_object_foreach ((json_t *)(uintptr_t)paths, group, value)
			if (line_says(line, controller_of(group), json_string_value(value)))
				(void)json_array_append_new(list, json_string(group));
	return list;
}

json_t *inspect_thread(const struct inspect *in, pid_t pid, const char *process, const json_t *raw)
{
	static const char *const same[] = {"tid",  "cpus",	     "policy",	 "priority",
					   "nice", "seccompFilters", "effective"};
	const json_t *inner = json_object_get(raw, "nsTid");
	pid_t tid = (pid_t)json_u64(raw, "tid", 0);
	int vcpu = vcpu_of(in->pod, tid);
	const char *role = role_of(process, json_str(raw, "comm"), vcpu);
	json_t *out, *groups;
	char folder[64];

	(void)snprintf(folder, sizeof folder, "/proc/%d/task/%d", pid, tid);
	groups = groups_of(in, folder);
	if (!groups)
		return NULL;
	out = json_object();
	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		(void)json_object_set(out, same[i], json_object_get(raw, same[i]));
	(void)json_object_set(out, "name", json_object_get(raw, "comm"));
	(void)json_object_set(out, "innerTid", json_array_get(inner, json_array_size(inner) - 1));
	(void)json_object_set_new(out, "role", json_string(role));
	if (str_eq(role, "vcpu"))
		(void)json_object_set_new(out, "vcpu", json_integer(vcpu));
	(void)json_object_set_new(out, "lastCpu", last_cpu(folder));
	(void)json_object_set_new(out, "groups", groups);
	return out;
}
