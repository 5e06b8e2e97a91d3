// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup v1 controllers, each in a hierarchy of its own, with the unified tree beside them for kill
 * and events. A pod has one group per hierarchy; its vCPU threads alone sit in a cpuset of their own
 * at the top of that hierarchy. v1 has no order between hierarchies, so everything is set before
 * the first task is let in.
 */
#include "cgroups/v1.h"

#include "cgroups/backend.h"
#include "cgroups/devices.h"
#include "cgroups/group.h"
#include "cgroups/members.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

static int make_groups(struct tree *t, const struct cgroup_pod_spec *spec, struct err *err)
{
	struct group side = {t, HIER_CPUSET, NODE_SIDE, spec->uid};

	for (int i = 0; i < HIER_MAX; i++) {
		struct group top = {t, (enum tree_hier)i, NODE_TOP, NULL};
		struct group pod = {t, (enum tree_hier)i, NODE_POD, spec->uid};
		struct err why = {0};
		int r;

		if (!tree_has(t, (enum tree_hier)i))
			continue;
		r = group_make(&top, &why);
		if (r < 0 && r != -EEXIST)
			return err_set(err, r, "%s", why.msg);
		r = group_make(&pod, err);
		if (r < 0)
			return r;
	}
	return CPU_COUNT(&spec->vcpu) ? group_make(&side, err) : 0;
}

/* Kernels before 5.11 count each group alone unless told at the top, while it has no children. */
static int set_hierarchical(struct tree *t, struct err *err)
{
	struct group top = {t, HIER_MEMORY, NODE_TOP, NULL};
	uint64_t on;
	int r = group_read_u64(&top, "memory.use_hierarchy", &on, err);

	if (r < 0 || on == 1)
		return r;
	return group_set_u64(&top, "memory.use_hierarchy", 1, 1, err);
}

static int set_memory(struct tree *t, const struct cgroup_pod_spec *spec, struct err *err)
{
	struct group g = {t, HIER_MEMORY, NODE_POD, spec->uid};
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t max = spec->limits.memory_max;
	_cleanup_fd_ int memsw = -1;
	int r;

	if (!max)
		return 0;
	r = group_set_u64(&g, "memory.limit_in_bytes", max, max / page * page, err);
	if (r < 0)
		return r;
	/* never below the limit without swap, so it comes second; absent without swap accounting */
	r = group_open(&g, "memory.memsw.limit_in_bytes", O_RDONLY, &memsw, NULL);
	if (r == -ENOENT)
		return 0;
	return group_set_u64(&g, "memory.memsw.limit_in_bytes", max, max / page * page, err);
}

static int set_limits(struct tree *t, const struct cgroup_pod_spec *spec, struct err *err)
{
	const struct cgroup_limits *l = &spec->limits;
	struct group pids = {t, HIER_PIDS, NODE_POD, spec->uid};
	struct group cpu = {t, HIER_CPU, NODE_POD, spec->uid};
	int r = set_memory(t, spec, err);

	if (!r && l->pids_max)
		r = group_set_u64(&pids, "pids.max", l->pids_max, l->pids_max, err);
	if (!r && l->cpu_shares)
		r = group_set_u64(&cpu, "cpu.shares", l->cpu_shares, l->cpu_shares, err);
	/* a fresh group has no quota, so any period is accepted */
	if (!r && l->cpu_quota_us)
		r = group_set_u64(&cpu, "cpu.cfs_period_us", l->cpu_period_us, l->cpu_period_us,
				  err);
	if (!r && l->cpu_quota_us)
		r = group_set_u64(&cpu, "cpu.cfs_quota_us", l->cpu_quota_us, l->cpu_quota_us, err);
	return r;
}

static int set_devices(struct tree *t, const struct cgroup_pod_spec *spec, struct err *err)
{
	struct group g = {t, HIER_DEVICES, NODE_POD, spec->uid};
	_cleanup_free_ char *list = NULL;
	char line[DEVICES_LINE_MAX];
	int r;

	if (!spec->devices)
		return 0; /* a new group allows what its parent does: everything */
	r = group_write(&g, "devices.deny", "a", err);
	for (unsigned i = 0; !r && i < spec->n_devices; i++) {
		devices_format(&spec->devices[i], line);
		r = group_write(&g, "devices.allow", line, err);
	}
	if (!r)
		r = group_read(&g, "devices.list", &list, err);
	if (!r)
		r = devices_compare(list, spec->devices, spec->n_devices, err);
	return r;
}

static int v1_create(struct tree *t, const struct cgroup_pod_spec *spec, struct err *err)
{
	int r = make_groups(t, spec, err);

	if (!r)
		r = set_hierarchical(t, err);
	if (!r)
		r = set_limits(t, spec, err);
	if (!r)
		r = set_devices(t, spec, err);
	if (!r)
		r = v1_cpuset_setup(t, spec, err);
	return r;
}

/*
 * A thread that moves itself alone, by `tasks`, needs no lock on all forks of the host; moving a whole
 * process takes that lock, and the kernel then waits for RCU: 6 to 15 ms for the first of them. v2's
 * tree has no such file, there a process is moved, or its child is born where it belongs.
 */
static int v1_enter(struct tree *t, const char *uid, bool born, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	int r;

	for (int i = 0; i < HIER_MAX; i++) {
		struct group g = {t, (enum tree_hier)i, NODE_POD, uid};

		if (!tree_has(t, g.hier) || (born && g.hier == HIER_UNIFIED))
			continue;
		r = group_write(&g, g.hier == HIER_UNIFIED ? "cgroup.procs" : "tasks", "0", err);
		if (r < 0)
			return r;
	}
	r = members_read(0, &text, err);
	for (int i = 0; !r && i < HIER_MAX; i++) {
		struct group g = {t, (enum tree_hier)i, NODE_POD, uid};

		if (born && g.hier == HIER_UNIFIED)
			continue;
		if (tree_has(t, g.hier) && !members_at(text, &g))
			r = err_set(err, -EIO,
				    "cgroup %s: pod '%s' was entered but the kernel says: %.400s",
				    tree_hier_name((enum tree_hier)i), uid, text);
	}
	return r;
}

static int v1_birthplace(struct tree *t, const char *uid, int *ret_fd, struct err *err)
{
	struct group g = {t, HIER_UNIFIED, NODE_POD, uid};

	if (tree_has(t, HIER_UNIFIED))
		return group_open_dir(&g, ret_fd, err);
	*ret_fd = -1;
	return 0;
}

static int v1_place(struct tree *t, const char *uid, pid_t tid, enum cgroup_place place,
		    struct err *err)
{
	enum tree_node node = place == CGROUP_VCPU ? NODE_SIDE : NODE_POD;
	struct group g = {t, HIER_CPUSET, node, uid};
	_cleanup_free_ char *text = NULL;
	char number[24];
	bool there;
	int r = group_exists(&g, &there, err);

	if (r < 0)
		return r;
	if (!there)
		return err_set(err, -ENOENT, "cgroup cpuset: pod '%s' has no group for %s", uid,
			       place == CGROUP_VCPU ? "vCPUs (no dedicated CPUs)" : "anything");
	(void)snprintf(number, sizeof number, "%d", (int)tid);
	r = group_write(&g, "tasks", number, err);
	if (!r)
		r = members_read(tid, &text, err);
	if (!r && !members_at(text, &g))
		r = err_set(err, -EIO,
			    "cgroup cpuset: thread %d of pod '%s' was moved but the kernel says: "
			    "%.400s",
			    (int)tid, uid, text);
	return r;
}

static int v1_settle(struct tree *t, struct err *err)
{
	return v1_cpuset_fit_top(t, NULL, err);
}

const struct cgroup_ops cgroup_v1_ops = {
	.mode = "v1",
	.create = v1_create,
	.enter = v1_enter,
	.birthplace = v1_birthplace,
	.place = v1_place,
	.set_emu_cpus = v1_cpuset_set_emu,
	.read = v1_read,
	.settle = v1_settle,
};
