// SPDX-License-Identifier: Apache-2.0
/*
 * v2 cpusets and partitions (cgroup-v2.rst, "Cpuset"; the order was found by trying Linux 6.1).
 *
 * A partition must not share a CPU with the cpuset.cpus of any group beside it; a write that breaks
 * this succeeds, and invalidates the partition. Groups beside it with an empty cpuset.cpus shrink by
 * themselves. So the top group's set stays empty, always, and pods with a partition stand beside it.
 * Nothing here trusts a write: every file is read back, since the kernel answers in the file.
 */
#include "cgroups/v2.h"

#include "lib/cpus.h"
#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Set CPUs, and make sure that the kernel grants all of them: it would silently grant fewer. */
static int write_cpus(const struct group *g, const cpu_set_t *cpus, struct err *err)
{
	char want[CPUS_TEXT_MAX], have[CPUS_TEXT_MAX];
	cpu_set_t granted;
	int r = group_set_set(g, "cpuset.cpus", cpus, err);

	if (!r)
		r = group_read_set(g, "cpuset.cpus.effective", &granted, err);
	if (r < 0 || CPU_EQUAL(&granted, cpus))
		return r;
	return err_set(err, -EIO, "cgroup cpuset: CPUs %.200s were set, the kernel grants %.200s",
		       cpus_format(cpus, want), cpus_format(&granted, have));
}

/* -EINVAL unless the root group still has all of `set`; other partitions take theirs out of it. */
static int check_on_host(struct tree *t, const char *file, const char *what, const cpu_set_t *set,
			 struct err *err)
{
	struct group root = {t, HIER_UNIFIED, NODE_ROOT, NULL};
	char text[CPUS_TEXT_MAX], host_text[CPUS_TEXT_MAX];
	cpu_set_t host, rest = *set;
	int r = group_read_set(&root, file, &host, err);

	if (r < 0)
		return r;
	cpus_minus(&rest, &host);
	if (!CPU_COUNT(&rest))
		return 0;
	return err_set(err, -EINVAL,
		       "cgroup cpuset: %s %.200s asked for, but offline or in a partition: the "
		       "root group has %.200s",
		       what, cpus_format(&rest, text), cpus_format(&host, host_text));
}

/* Groups of pods, this handler's or another's; a partition of theirs holds what they were given. */
static bool is_passed_over(const char *name, const char *own)
{
	return own ? str_eq(name, own) : str_after(name, "virtpod-") != NULL;
}

int v2_cpuset_beside(struct tree *t, const char *uid, const cpu_set_t *cpus, struct err *err)
{
	struct group root = {t, HIER_UNIFIED, NODE_ROOT, NULL};
	_cleanup_(group_names_freep) char **names = NULL;
	char own[TREE_PATH_MAX], text[CPUS_TEXT_MAX];
	int r = group_names(&root, &names, err);

	if (!r && uid)
		r = tree_path(t, NODE_SIDE, uid, own, err);
	for (char **p = names; !r && *p; p++) {
		_cleanup_free_ char *path = xasprintf("%s/cpuset.cpus", *p);
		cpu_set_t theirs;

		/* no such file: no cpuset controller there; or the group has just gone */
		if (is_passed_over(*p, uid ? own : NULL) ||
		    file_read_line_at(t->fd[HIER_UNIFIED], path, text, sizeof text) < 0)
			continue;
		if (cpus_parse(text, &theirs) < 0)
			return err_set(err, -ENOTSUP, "cgroup /%.200s holds '%.200s'", path, text);
		CPU_AND(&theirs, &theirs, cpus);
		if (CPU_COUNT(&theirs))
			r = err_set(err, -ENOTSUP,
				    "cgroup /%.200s holds CPU%s %.200s, so no partition can: take "
				    "that out there",
				    path, CPU_COUNT(&theirs) > 1 ? "s" : "",
				    cpus_format(&theirs, text));
	}
	return r;
}

/*
 * Linux 6.1 crashes in partition_sched_domains when all that an isolated child leaves of its parent's
 * CPUs are CPUs of isolcpus (tried: a general protection fault, then cgroup locks held for ever).
 */
static int check_isolcpus(const cpu_set_t *left, struct err *err)
{
	char text[CPUS_TEXT_MAX];
	cpu_set_t isolcpus, rest = *left;

	if (file_read_line_at(AT_FDCWD, "/sys/devices/system/cpu/isolated", text, sizeof text) <
		    0 ||
	    cpus_parse(text, &isolcpus) < 0)
		return 0; /* no such parameter in this kernel */
	cpus_minus(&rest, &isolcpus);
	if (CPU_COUNT(&rest))
		return 0;
	return err_set(
		err, -ENOTSUP,
		"the CPUs for all but vCPUs (%.200s) are in the kernel's isolcpus=, where no "
		"partition can keep them apart: leave out that parameter, partitions do more",
		cpus_format(left, text));
}

int v2_cpuset_check(struct tree *t, const struct cgroup_pod_spec *spec, struct err *err)
{
	cpu_set_t all;
	int r = check_isolcpus(&spec->emu, err);

	CPU_OR(&all, &spec->emu, &spec->vcpu);
	return r < 0 ? r : v2_cpuset_beside(t, spec->uid, &all, err);
}

/* `kind` is "root" or "isolated". An invalid partition says why in its own file. */
static int set_partition(const struct group *g, const char *kind, struct err *err)
{
	_cleanup_free_ char *have = NULL;
	struct err why = {0};
	int r = group_write(g, "cpuset.cpus.partition", kind, &why);

	if (!r)
		r = group_read(g, "cpuset.cpus.partition", &have, &why);
	if (r < 0) /* a kernel without partitions, or without this kind */
		return err_set(err, r == -ENOENT || r == -EINVAL ? -ENOTSUP : r, "%s", why.msg);
	if (!str_eq(have, kind))
		return err_set(
			err, -ENOTSUP,
			"cgroup cpuset: partition '%s' was asked for, the kernel says '%.200s'",
			kind, have);
	return 0;
}

static int make_partitions(const struct group *pod, const struct group *vcpu, struct err *err)
{
	int r = set_partition(pod, "root", err);

	/* inside the pod's own: the scheduler balances no load over the vCPUs' CPUs */
	return r < 0 ? r : set_partition(vcpu, "isolated", err);
}

int v2_cpuset_setup(struct tree *t, const struct cgroup_pod_spec *spec, enum tree_node base,
		    struct err *err)
{
	struct group pod = {t, HIER_UNIFIED, base, spec->uid};
	struct group emu = v2_child(t, spec->uid, base, CGROUP_EMU);
	struct group vcpu = v2_child(t, spec->uid, base, CGROUP_VCPU);
	bool dedicated = CPU_COUNT(&spec->vcpu) > 0;
	cpu_set_t all;
	int r;

	CPU_OR(&all, &spec->emu, &spec->vcpu);
	r = check_on_host(t, "cpuset.cpus.effective", "CPUs", &all, err);
	if (!r)
		r = check_on_host(t, "cpuset.mems.effective", "NUMA nodes", &spec->mems, err);
	if (!r && CPU_COUNT(&spec->mems))
		r = group_set_set(&pod, "cpuset.mems", &spec->mems, err);
	if (!r && base == NODE_SIDE)
		r = write_cpus(&pod, &all, err);
	if (!r)
		r = write_cpus(&emu, &spec->emu, err);
	if (!r && dedicated)
		r = write_cpus(&vcpu, &spec->vcpu, err);
	return !r && base == NODE_SIDE ? make_partitions(&pod, &vcpu, err) : r;
}

int v2_cpuset_set_emu(struct tree *t, const char *uid, const cpu_set_t *cpus, struct err *err)
{
	char text[CPUS_TEXT_MAX];
	enum tree_node base;
	struct group emu, vcpu;
	cpu_set_t have, taken;
	bool dedicated = false;
	int r = v2_base(t, uid, &base, err);

	if (r < 0)
		return r;
	if (base == NODE_SIDE)
		return err_set(err, -EINVAL,
			       "cgroup cpuset: pod '%s' is a partition: its CPUs don't change",
			       uid);
	emu = v2_child(t, uid, base, CGROUP_EMU);
	vcpu = v2_child(t, uid, base, CGROUP_VCPU);
	r = group_exists(&vcpu, &dedicated, err);
	CPU_ZERO(&taken);
	if (!r && dedicated)
		r = group_read_set(&vcpu, "cpuset.cpus", &taken, err);
	if (!r)
		r = group_read_set(&emu, "cpuset.cpus", &have, err);
	if (r < 0)
		return r;
	CPU_AND(&taken, &taken, cpus);
	if (CPU_COUNT(&taken))
		return err_set(err, -EINVAL,
			       "cgroup cpuset: CPUs %.200s carry vCPUs of pod '%s' and can't carry "
			       "its other threads, too",
			       cpus_format(&taken, text), uid);
	/* 6.1 resets every thread's own mask when the set changes: never without need */
	return CPU_EQUAL(&have, cpus) ? 0 : write_cpus(&emu, cpus, err);
}

static bool holds(const struct group *g, const char *kind)
{
	_cleanup_free_ char *have = NULL;

	return group_read(g, "cpuset.cpus.partition", &have, NULL) == 0 && str_eq(have, kind);
}

static bool has_cpus(const struct group *g, const cpu_set_t *cpus)
{
	cpu_set_t have;

	return group_read_set(g, "cpuset.cpus", &have, NULL) == 0 && CPU_EQUAL(&have, cpus);
}

/* As they were made, and that the kernel grants all of them. */
static int rewrite_sets(const struct group *pod, const struct group *emu, const struct group *vcpu,
			const cpu_set_t *emu_cpus, const cpu_set_t *vcpu_cpus, struct err *err)
{
	cpu_set_t all;
	int r;

	CPU_OR(&all, emu_cpus, vcpu_cpus);
	r = write_cpus(pod, &all, err);
	if (!r)
		r = write_cpus(emu, emu_cpus, err);
	return r < 0 ? r : write_cpus(vcpu, vcpu_cpus, err);
}

/*
 * Rewriting "root" does nothing to an invalid partition; "member" and then "root" does, and children
 * follow by themselves on 6.1. Not as long as the cause is there: each try disturbs the pod's CPUs.
 * Sets that somebody changed are written again in between, when they are nobody's partition.
 */
int v2_cpuset_repair(struct tree *t, const char *uid, const cpu_set_t *emu_cpus,
		     const cpu_set_t *vcpu_cpus, struct err *err)
{
	struct group pod = {t, HIER_UNIFIED, NODE_SIDE, uid};
	struct group emu = v2_child(t, uid, NODE_SIDE, CGROUP_EMU);
	struct group vcpu = v2_child(t, uid, NODE_SIDE, CGROUP_VCPU);
	enum tree_node base;
	bool sets, whole;
	cpu_set_t all;
	int r = v2_base(t, uid, &base, err);

	if (r < 0 || base != NODE_SIDE)
		return r;
	CPU_OR(&all, emu_cpus, vcpu_cpus);
	sets = has_cpus(&pod, &all) && has_cpus(&emu, emu_cpus) && has_cpus(&vcpu, vcpu_cpus);
	whole = sets && holds(&pod, "root");
	if (whole && holds(&vcpu, "isolated"))
		return 0;
	r = v2_cpuset_beside(t, uid, &all, err);
	if (!r && !sets) /* the files may have been switched off below the pod */
		r = group_write(&pod, "cgroup.subtree_control", "+cpuset", err);
	if (!r && !whole)
		r = group_write(&pod, "cpuset.cpus.partition", "member", err);
	if (!r && !sets)
		r = rewrite_sets(&pod, &emu, &vcpu, emu_cpus, vcpu_cpus, err);
	if (!r && !holds(&pod, "root"))
		r = set_partition(&pod, "root", err);
	if (!r && !holds(&vcpu, "isolated"))
		r = group_write(&vcpu, "cpuset.cpus.partition", "member", err);
	if (!r && !holds(&vcpu, "isolated"))
		r = set_partition(&vcpu, "isolated", err);
	return r < 0 ? r : 1;
}

/*
 * Removal alone gives them back as well, but only some time after rmdir: until then a pod that gets the
 * same CPUs next would be refused, by the partition that is not there any more or by its cpuset.cpus.
 */
void v2_cpuset_release(struct tree *t, const char *uid)
{
	struct group pod = {t, HIER_UNIFIED, NODE_SIDE, uid};
	bool there = false;

	if (group_exists(&pod, &there, NULL) < 0 || !there)
		return;
	(void)group_write(&pod, "cpuset.cpus.partition", "member", NULL);
	(void)group_write(&pod, "cpuset.cpus", "\n", NULL);
}
