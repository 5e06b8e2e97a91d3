// SPDX-License-Identifier: Apache-2.0
/* The boundary's layers that are properties of a process. */
#include "handler/verify_internal.h"

#include "sandbox/spawn.h"

#include <stdio.h>

static const json_t *find_process(const struct verify *v, const char *name)
{
	return json_find(json_object_get(v->seen, "processes"), "name", name);
}

static void known(struct verify *v, const json_t *process, const char *who)
{
	if (!verify_is(process, "name", "launcher") && !verify_is(process, "name", "qemu"))
		verify_differ(v, json_null(), json_object_get(process, "comm"),
			      "a process that is neither launcher nor QEMU, %s,", who);
}

/* One launcher and one QEMU; nothing of today's pods starts anything else. */
void verify_processes(struct verify *v)
{
	static const char *const names[] = {"launcher", "qemu"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!find_process(v, names[i]))
			verify_differ(v, json_string("running"), NULL, "process %s", names[i]);
	verify_each_process(v, known);
}

static void four_times(struct verify *v, const json_t *process, const char *who, const char *member)
{
	json_int_t id = v->p->host_id;

	verify_equal(v, json_pack("[I,I,I,I]", id, id, id, id), json_object_get(process, member),
		     "%s %s", who, member);
}

static void own_ids(struct verify *v, const json_t *process, const char *who)
{
	four_times(v, process, who, "uids");
	four_times(v, process, who, "gids");
	verify_equal(v, json_array(), json_object_get(process, "groups"), "%s groups", who);
}

void verify_ids(struct verify *v)
{
	verify_each_process(v, own_ids);
}

static void own_maps(struct verify *v, const json_t *process, const char *who)
{
	static const char *const maps[] = {"uidMap", "gidMap"};

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		verify_equal(v,
			     json_pack("[{s:i, s:I, s:i}]", "inside", SANDBOX_INNER_ID, "outside",
				       (json_int_t)v->p->host_id, "count", 1),
			     json_object_get(process, maps[i]), "%s %s", who, maps[i]);
}

void verify_id_maps(struct verify *v)
{
	if (v->p->plan->isolation.user)
		verify_each_process(v, own_maps);
}

static void own_namespaces(struct verify *v, const json_t *process, const char *who)
{
	const struct plan_isolation *on = &v->p->plan->isolation;
	const struct {
		const char *name;
		bool own;
	} layers[] = {
		{"user", on->user}, {"pid", on->pid}, {"mnt", on->mount},     {"net", on->net},
		{"ipc", on->ipc},   {"uts", on->uts}, {"cgroup", on->cgroup},
	};

	for (size_t i = 0; i < ARRAY_SIZE(layers); i++) {
		const json_t *namespaces = json_object_get(process, "namespaces");
		const json_t *ns = json_object_get(namespaces, layers[i].name);

		if (layers[i].own)
			verify_equal(v, json_false(), json_object_get(ns, "host"),
				     "%s namespaces.%s.host", who, layers[i].name);
	}
}

void verify_namespaces(struct verify *v)
{
	verify_each_process(v, own_namespaces);
}

static void launchers_namespaces(struct verify *v, const json_t *process, const char *who)
{
	static const char *const names[] = {"user", "pid", "mnt", "net", "ipc", "uts", "cgroup"};
	const json_t *launcher = find_process(v, "launcher");

	for (size_t i = 0; launcher && i < ARRAY_SIZE(names); i++) {
		char path[64];
		json_t *wanted;

		(void)snprintf(path, sizeof path, "namespaces.%s.inode", names[i]);
		wanted = json_get(launcher, path);
		if (wanted)
			verify_equal(v, json_incref(wanted), json_get(process, path),
				     "%s %s (the launcher's)", who, path);
	}
}

/* Nobody in the pod left its namespaces or made new ones. */
void verify_same_namespaces(struct verify *v)
{
	verify_each_process(v, launchers_namespaces);
}

static void empty_sets(struct verify *v, const json_t *process, const char *who)
{
	static const char *const sets[] = {"effective", "permitted", "inheritable", "bounding",
					   "ambient"};
	const json_t *caps = json_object_get(process, "capabilities");

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		verify_equal(v, json_string("0000000000000000"), json_object_get(caps, sets[i]),
			     "%s capabilities.%s", who, sets[i]);
}

static void empty_effective(struct verify *v, const json_t *process, const json_t *thread,
			    const char *who)
{
	(void)process;
	verify_equal(v, json_string("0000000000000000"), json_object_get(thread, "effective"),
		     "%s effective capabilities", who);
}

/* Capabilities belong to threads: those of a process are its main thread's. */
void verify_capabilities(struct verify *v)
{
	if (!v->p->plan->isolation.capabilities)
		return;
	verify_each_process(v, empty_sets);
	verify_each_thread(v, empty_effective);
}

static void no_new_privs(struct verify *v, const json_t *process, const char *who)
{
	verify_equal(v, json_true(), json_object_get(process, "noNewPrivs"), "%s noNewPrivs", who);
}

void verify_no_new_privs(struct verify *v)
{
	if (v->p->plan->isolation.no_new_privs)
		verify_each_process(v, no_new_privs);
}

static void filtered(struct verify *v, const json_t *process, const char *who)
{
	verify_equal(v, json_string("filter"), json_get(process, "seccomp.mode"), "%s seccomp.mode",
		     who);
}

void verify_seccomp(struct verify *v)
{
	if (v->p->plan->isolation.seccomp != SECCOMP_OFF)
		verify_each_process(v, filtered);
}

/* The launcher's two, for QEMU also its child's one and QEMU's own -sandbox (docs/security.md). */
static void enough_filters(struct verify *v, const json_t *process, const json_t *thread,
			   const char *who)
{
	uint64_t least = verify_is(process, "name", "qemu") ? 4 : 2;

	if (json_u64(thread, "seccompFilters", 0) < least)
		verify_differ(v, json_sprintf("at least %d", (int)least),
			      json_object_get(thread, "seccompFilters"), "%s seccomp filters", who);
}

void verify_seccomp_filters(struct verify *v)
{
	if (v->p->plan->isolation.seccomp != SECCOMP_OFF)
		verify_each_thread(v, enough_filters);
}

/* QEMU's execve makes it dumpable again, which docs/security.md explains. */
void verify_dumpable(struct verify *v)
{
	const json_t *launcher = find_process(v, "launcher");

	if (v->p->plan->isolation.dumpable_off && launcher)
		verify_equal(v, json_false(), json_object_get(launcher, "dumpable"),
			     "launcher (pid %llu) dumpable",
			     (unsigned long long)json_u64(launcher, "pid", 0));
}

static void no_core(struct verify *v, const json_t *process, const char *who)
{
	const json_t *limit =
		json_find(json_object_get(process, "limits"), "name", "Max core file size");

	verify_equal(v, json_string("0"), json_object_get(limit, "hard"),
		     "%s hard limit of core dumps", who);
}

/* A core dump would put the guest's memory on the host's disk. */
void verify_core_limit(struct verify *v)
{
	verify_each_process(v, no_core);
}
