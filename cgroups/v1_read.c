// SPDX-License-Identifier: Apache-2.0
/* Everything the kernel says of a pod's v1 groups, as one JSON object (keys: see cgroup.h). */
#include "cgroups/show.h"
#include "cgroups/v1.h"
#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>

static int read_groups(struct tree *t, const char *uid, bool side_there, json_t *root,
		       struct err *err)
{
	struct group side = {t, HIER_CPUSET, NODE_SIDE, uid};
	int r = 0;

	(void)show_object(root, "paths");
	(void)show_object(root, "tasks");
	for (int i = 0; !r && i < HIER_MAX; i++) {
		struct group g = {t, (enum tree_hier)i, NODE_POD, uid};

		if (tree_has(t, g.hier))
			r = show_path_and_tasks(root, tree_hier_name(g.hier), &g, err);
	}
	if (!r && side_there)
		r = show_path_and_tasks(root, "cpusetVcpu", &side, err);
	return r;
}

static int read_cpuset_group(json_t *o, const struct group *g, bool *ret_exclusive, struct err *err)
{
	uint64_t exclusive = 0;
	int r = show_text(o, "cpus", g, "cpuset.cpus", err);

	if (!r)
		r = show_text(o, "effectiveCpus", g, "cpuset.effective_cpus", err);
	if (!r)
		r = show_text(o, "mems", g, "cpuset.mems", err);
	if (!r)
		r = group_read_u64(g, "cpuset.cpu_exclusive", &exclusive, err);
	if (!r)
		json_object_set_new(o, "exclusive", json_boolean(exclusive == 1));
	*ret_exclusive = exclusive == 1;
	return r;
}

static int read_cpuset(struct tree *t, const char *uid, bool side_there, json_t *root,
		       struct err *err)
{
	struct group pod = {t, HIER_CPUSET, NODE_POD, uid};
	struct group side = {t, HIER_CPUSET, NODE_SIDE, uid};
	json_t *o = show_object(root, "cpuset");
	bool exclusive;
	int r = read_cpuset_group(show_object(o, "emu"), &pod, &exclusive, err);

	if (r < 0)
		return r;
	if (!side_there) {
		json_object_set_new(o, "vcpu", json_null());
		json_object_set_new(root, "exclusivity", json_null());
		return 0;
	}
	r = read_cpuset_group(show_object(o, "vcpu"), &side, &exclusive, err);
	json_object_set_new(root, "exclusivity", json_string(exclusive ? "kernel" : "ledger"));
	return r;
}

static int read_limits(struct tree *t, const char *uid, json_t *root, struct err *err)
{
	struct group memory = {t, HIER_MEMORY, NODE_POD, uid};
	struct group pids = {t, HIER_PIDS, NODE_POD, uid};
	struct group cpu = {t, HIER_CPU, NODE_POD, uid};
	json_t *o = show_object(root, "limits");
	int r = show_u64(o, "memoryMax", &memory, "memory.limit_in_bytes", err);

	/* without swap accounting there is no such file and no such limit */
	if (!r && show_u64(o, "memorySwapMax", &memory, "memory.memsw.limit_in_bytes", NULL) < 0)
		json_object_set_new(o, "memorySwapMax", json_null());
	if (!r)
		r = show_limit(o, "pidsMax", &pids, "pids.max", "max", err);
	if (!r)
		r = show_limit(o, "cpuQuotaUs", &cpu, "cpu.cfs_quota_us", "-1", err);
	if (!r)
		r = show_u64(o, "cpuPeriodUs", &cpu, "cpu.cfs_period_us", err);
	if (!r)
		r = show_u64(o, "cpuShares", &cpu, "cpu.shares", err);
	return r;
}

static int read_use(struct tree *t, const char *uid, json_t *root, struct err *err)
{
	struct group memory = {t, HIER_MEMORY, NODE_POD, uid};
	struct group pids = {t, HIER_PIDS, NODE_POD, uid};
	struct group cpu = {t, HIER_CPU, NODE_POD, uid};
	struct group unified = {t, HIER_UNIFIED, NODE_POD, uid};
	json_t *o = show_object(root, "use");
	int r = show_u64(o, "memoryBytes", &memory, "memory.usage_in_bytes", err);

	if (!r)
		r = show_u64(o, "memoryPeakBytes", &memory, "memory.max_usage_in_bytes", err);
	if (!r)
		r = show_u64(o, "pids", &pids, "pids.current", err);
	if (!r)
		r = show_key(o, "cpuPeriods", &cpu, "cpu.stat", "nr_periods", 1, err);
	if (!r)
		r = show_key(o, "cpuThrottledPeriods", &cpu, "cpu.stat", "nr_throttled", 1, err);
	if (!r)
		r = show_key(o, "cpuThrottledUsec", &cpu, "cpu.stat", "throttled_time", 1000, err);
	/* v1 counts time in yet another controller; every cgroup2 group counts it by itself */
	if (!tree_has(t, HIER_UNIFIED))
		json_object_set_new(o, "cpuUsec", json_null());
	else if (!r)
		r = show_key(o, "cpuUsec", &unified, "cpu.stat", "usage_usec", 1, err);
	return r;
}

static int read_events(struct tree *t, const char *uid, json_t *root, struct err *err)
{
	struct group memory = {t, HIER_MEMORY, NODE_POD, uid};
	struct group pids = {t, HIER_PIDS, NODE_POD, uid};
	json_t *o = show_object(root, "events");
	int r = show_key(o, "oomKills", &memory, "memory.oom_control", "oom_kill", 1, err);

	if (!r)
		r = show_u64(o, "memoryLimitHits", &memory, "memory.failcnt", err);
	if (!r)
		r = show_key(o, "pidsLimitHits", &pids, "pids.events", "max", 1, err);
	return r;
}

int v1_read(struct tree *t, const char *uid, json_t **ret, struct err *err)
{
	_cleanup_json_ json_t *root = json_object();
	struct group devices = {t, HIER_DEVICES, NODE_POD, uid};
	struct group side = {t, HIER_CPUSET, NODE_SIDE, uid};
	bool side_there;
	int r = group_exists(&side, &side_there, err);

	json_object_set_new(root, "mode", json_string("v1"));
	if (!r)
		r = read_groups(t, uid, side_there, root, err);
	if (!r)
		r = read_cpuset(t, uid, side_there, root, err);
	if (!r)
		r = read_limits(t, uid, root, err);
	if (!r)
		r = read_use(t, uid, root, err);
	if (!r)
		r = read_events(t, uid, root, err);
	if (!r)
		r = show_lines(root, "devices", &devices, "devices.list", /* numbers= */ false,
			       err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(root);
	return 0;
}
