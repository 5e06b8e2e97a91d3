// SPDX-License-Identifier: Apache-2.0
/* Everything the kernel says of a pod's v2 groups, as one JSON object (keys: see cgroup.h). */
#include "cgroups/device_bpf.h"
#include "cgroups/show.h"
#include "cgroups/v2.h"
#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct pod_groups {
	struct group pod, emu, vcpu;
	bool dedicated; /* vcpu is there */
};

static int read_cpuset_group(json_t *o, const struct group *g, bool exclusive, struct err *err)
{
	int r = show_text(o, "cpus", g, "cpuset.cpus", err);

	if (!r)
		r = show_text(o, "effectiveCpus", g, "cpuset.cpus.effective", err);
	if (!r)
		r = show_text(o, "mems", g, "cpuset.mems.effective", err);
	if (!r)
		json_object_set_new(o, "exclusive", json_boolean(exclusive));
	return r;
}

/* "kernel" only while both partitions are what they were made as. */
static int read_partitions(const struct pod_groups *g, json_t *root, bool *ret, struct err *err)
{
	json_t *o;
	int r;

	if (g->pod.node != NODE_SIDE) {
		json_object_set_new(root, "partition", json_null());
		return 0;
	}
	o = show_object(root, "partition");
	r = show_text(o, "pod", &g->pod, "cpuset.cpus.partition", err);
	if (!r)
		r = show_text(o, "vcpu", &g->vcpu, "cpuset.cpus.partition", err);
	if (!r)
		r = show_text(o, "cpus", &g->pod, "cpuset.cpus", err);
	*ret = !r && str_eq(json_str(o, "pod"), "root") && str_eq(json_str(o, "vcpu"), "isolated");
	return r;
}

static int read_cpuset(const struct pod_groups *g, json_t *root, struct err *err)
{
	json_t *o = show_object(root, "cpuset");
	bool exclusive = false;
	int r = read_partitions(g, o, &exclusive, err);

	if (!r)
		r = read_cpuset_group(show_object(o, "emu"), &g->emu, exclusive, err);
	if (!r && g->dedicated)
		r = read_cpuset_group(show_object(o, "vcpu"), &g->vcpu, exclusive, err);
	if (!g->dedicated)
		json_object_set_new(o, "vcpu", json_null());
	json_object_set_new(root, "exclusivity",
			    g->dedicated ? json_string(exclusive ? "kernel" : "ledger")
					 : json_null());
	return r;
}

/* "max 100000" or "20000 100000" */
static int read_quota(const struct group *pod, json_t *o, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	uint64_t quota, period;
	int r = group_read(pod, "cpu.max", &text, err);

	if (r < 0)
		return r;
	if (sscanf(text, "max %" SCNu64, &period) == 1)
		json_object_set_new(o, "cpuQuotaUs", json_null());
	else if (sscanf(text, "%" SCNu64 " %" SCNu64, &quota, &period) == 2)
		json_object_set_new(o, "cpuQuotaUs", json_integer((json_int_t)quota));
	else
		return err_set(err, -EINVAL, "cgroup unified: cpu.max holds '%.100s'", text);
	json_object_set_new(o, "cpuPeriodUs", json_integer((json_int_t)period));
	return 0;
}

static int read_limits(const struct group *pod, json_t *root, struct err *err)
{
	json_t *o = show_object(root, "limits");
	int r = show_limit(o, "memoryMax", pod, "memory.max", "max", err);
	json_t *max = json_object_get(o, "memoryMax"), *swap;

	/* absent where there is no swap; v1 counts memory and swap as one, and so does this key */
	if (!r && show_limit(o, "memorySwapMax", pod, "memory.swap.max", "max", NULL) < 0)
		json_object_set_new(o, "memorySwapMax", json_null());
	swap = json_object_get(o, "memorySwapMax");
	if (!r && json_is_integer(swap))
		json_object_set_new(o, "memorySwapMax",
				    json_is_integer(max) ? json_integer(json_integer_value(max) +
									json_integer_value(swap))
							 : json_null());
	if (!r)
		r = show_limit(o, "pidsMax", pod, "pids.max", "max", err);
	if (!r)
		r = read_quota(pod, o, err);
	if (!r)
		r = show_u64(o, "cpuWeight", pod, "cpu.weight", err);
	json_object_set_new(o, "cpuShares", json_null());
	return r;
}

static int read_use(const struct group *pod, json_t *root, struct err *err)
{
	static const struct {
		const char *key, *line;
	} times[] = {{"cpuUsec", "usage_usec"},
		     {"cpuPeriods", "nr_periods"},
		     {"cpuThrottledPeriods", "nr_throttled"},
		     {"cpuThrottledUsec", "throttled_usec"}};
	json_t *o = show_object(root, "use");
	int r = show_u64(o, "memoryBytes", pod, "memory.current", err);

	/* Linux 5.19 brought it */
	if (!r && show_u64(o, "memoryPeakBytes", pod, "memory.peak", NULL) < 0)
		json_object_set_new(o, "memoryPeakBytes", json_null());
	if (!r)
		r = show_u64(o, "pids", pod, "pids.current", err);
	for (size_t i = 0; !r && i < ARRAY_SIZE(times); i++)
		r = show_key(o, times[i].key, pod, "cpu.stat", times[i].line, 1, err);
	return r;
}

static int read_events(const struct group *pod, json_t *root, struct err *err)
{
	json_t *o = show_object(root, "events");
	int r = show_key(o, "oomKills", pod, "memory.events", "oom_kill", 1, err);

	if (!r)
		r = show_key(o, "memoryLimitHits", pod, "memory.events", "max", 1, err);
	if (!r)
		r = show_key(o, "pidsLimitHits", pod, "pids.events", "max", 1, err);
	return r;
}

static int read_devices(const struct group *pod, json_t *root, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_fd_ int fd = -1;
	json_t *list = json_array();
	char *save = NULL;
	int r = group_open_dir(pod, &fd, err);

	json_object_set_new(root, "devices", list);
	if (!r)
		r = device_bpf_text(fd, &text, err);
	if (r < 0)
		return r;
	for (char *p = strtok_r(text, "\n", &save); p; p = strtok_r(NULL, "\n", &save))
		json_array_append_new(list, json_string(p));
	return 0;
}

static int find_groups(struct tree *t, const char *uid, struct pod_groups *ret, struct err *err)
{
	enum tree_node base;
	int r = v2_base(t, uid, &base, err);

	if (r < 0)
		return r;
	*ret = (struct pod_groups){
		.pod = {t, HIER_UNIFIED, base, uid},
		.emu = v2_child(t, uid, base, CGROUP_EMU),
		.vcpu = v2_child(t, uid, base, CGROUP_VCPU),
	};
	return group_exists(&ret->vcpu, &ret->dedicated, err);
}

int v2_read(struct tree *t, const char *uid, json_t **ret, struct err *err)
{
	_cleanup_json_ json_t *root = json_object();
	struct pod_groups g;
	int r = find_groups(t, uid, &g, err);

	json_object_set_new(root, "mode", json_string("v2"));
	(void)show_object(root, "paths");
	(void)show_object(root, "tasks");
	if (!r)
		r = show_path_and_tasks(root, "emu", &g.emu, err);
	if (!r && g.dedicated)
		r = show_path_and_tasks(root, "vcpu", &g.vcpu, err);
	if (!r)
		r = read_cpuset(&g, root, err);
	if (!r)
		r = read_limits(&g.pod, root, err);
	if (!r)
		r = read_use(&g.pod, root, err);
	if (!r)
		r = read_events(&g.pod, root, err);
	if (!r)
		r = read_devices(&g.pod, root, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(root);
	return 0;
}
