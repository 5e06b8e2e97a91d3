// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup v2. A pod is one domain with threaded children: emu for everything but vCPU threads, vcpu for
 * those of dedicated CPUs. Memory, pids, weight, quota and the device program are the pod's, so they
 * hold for both; only cpuset reaches down to threads. docs/cgroups.md has the two forms and the order.
 */
#include "cgroups/v2.h"

#include "cgroups/backend.h"
#include "cgroups/device_bpf.h"
#include "cgroups/devices.h"
#include "cgroups/members.h"
#include "cgroups/threaded.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

int v2_base(const struct tree *t, const char *uid, enum tree_node *ret, struct err *err)
{
	struct group side = {t, HIER_UNIFIED, NODE_SIDE, uid};
	bool there;
	int r = group_exists(&side, &there, err);

	if (!r)
		*ret = there ? NODE_SIDE : NODE_POD;
	return r;
}

struct group v2_child(const struct tree *t, const char *uid, enum tree_node base,
		      enum cgroup_place place)
{
	bool vcpu = place == CGROUP_VCPU;
	enum tree_node node = base == NODE_SIDE ? (vcpu ? NODE_SIDE_VCPU : NODE_SIDE_EMU)
						: (vcpu ? NODE_VCPU : NODE_EMU);

	return (struct group){t, HIER_UNIFIED, node, uid};
}

/* Let a group's children have these controllers; what is on already is not written again. */
static int enable(const struct group *g, const char *const *controllers, unsigned n,
		  struct err *err)
{
	for (unsigned i = 0; i < n; i++) {
		_cleanup_free_ char *have = NULL, *now = NULL;
		char text[16];
		int r = group_read(g, "cgroup.subtree_control", &have, err);

		if (r < 0)
			return r;
		if (str_has_word(have, controllers[i]))
			continue;
		(void)snprintf(text, sizeof text, "+%s", controllers[i]);
		r = group_write(g, "cgroup.subtree_control", text, err);
		if (!r)
			r = group_read(g, "cgroup.subtree_control", &now, err);
		if (r < 0)
			return r;
		if (!str_has_word(now, controllers[i]))
			return err_set(err, -EIO,
				       "cgroup unified: controller '%s' was switched on for "
				       "children but the kernel holds '%.200s'",
				       controllers[i], now);
	}
	return 0;
}

static int make_top(struct tree *t, struct err *err)
{
	struct group top = {t, HIER_UNIFIED, NODE_TOP, NULL};
	struct err why = {0};
	int r = group_make(&top, &why);

	return r < 0 && r != -EEXIST ? err_set(err, r, "%s", why.msg) : 0;
}

/* Threaded children come before any controller of theirs: the other order is refused. */
static int make_groups(struct tree *t, const struct cgroup_pod_spec *spec, enum tree_node base,
		       struct err *err)
{
	static const char *const all[] = {"cpuset", "cpu", "memory", "pids"};
	struct group root = {t, HIER_UNIFIED, NODE_ROOT, NULL};
	struct group top = {t, HIER_UNIFIED, NODE_TOP, NULL};
	struct group pod = {t, HIER_UNIFIED, base, spec->uid};
	struct group emu = v2_child(t, spec->uid, base, CGROUP_EMU);
	struct group vcpu = v2_child(t, spec->uid, base, CGROUP_VCPU);
	int r = enable(&root, all, ARRAY_SIZE(all), err);

	/* a partition beside it needs it, too: systemd takes a controller out of the root's children
	   as soon as none of them has given it on */
	if (!r)
		r = make_top(t, err);
	if (!r)
		r = enable(&top, all, ARRAY_SIZE(all), err);
	if (!r)
		r = group_make(&pod, err);
	if (!r)
		r = threaded_make(t, spec->uid, emu.node, err);
	if (!r && CPU_COUNT(&spec->vcpu))
		r = threaded_make(t, spec->uid, vcpu.node, err);
	return r < 0 ? r : enable(&pod, all, 1, err);
}

/* The limit includes swap, as on v1: so none of it is the pod's. Absent where there is no swap. */
static int set_memory(const struct group *pod, uint64_t max, struct err *err)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	_cleanup_fd_ int swap = -1;
	int r;

	if (!max)
		return 0;
	r = group_set_u64(pod, "memory.max", max, max / page * page, err);
	if (!r && group_open(pod, "memory.swap.max", O_RDONLY, &swap, NULL) != -ENOENT)
		r = group_set_u64(pod, "memory.swap.max", 0, 0, err);
	return r;
}

static int set_limits(const struct group *pod, const struct cgroup_limits *l, struct err *err)
{
	char quota[48];
	/* a guest without its launcher, or half a QEMU, is of no use to anybody */
	int r = group_set_u64(pod, "memory.oom.group", 1, 1, err);

	if (!r)
		r = set_memory(pod, l->memory_max, err);
	if (!r && l->pids_max)
		r = group_set_u64(pod, "pids.max", l->pids_max, l->pids_max, err);
	if (!r && l->cpu_shares) {
		uint64_t weight = cgroup_cpu_weight(l->cpu_shares);

		r = group_set_u64(pod, "cpu.weight", weight, weight, err);
	}
	if (!r && l->cpu_quota_us) {
		(void)snprintf(quota, sizeof quota, "%" PRIu64 " %" PRIu64, l->cpu_quota_us,
			       l->cpu_period_us);
		r = group_set(pod, "cpu.max", quota, quota, err);
	}
	return r;
}

static int set_devices(const struct group *pod, const struct cgroup_pod_spec *spec, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_fd_ int fd = -1;
	uint32_t id;
	int r;

	if (!spec->devices)
		return 0;
	r = group_open_dir(pod, &fd, err);
	if (!r)
		r = device_bpf_attach(fd, spec->devices, spec->n_devices, &id, err);
	if (!r)
		r = device_bpf_text(fd, &text, err);
	return r < 0 ? r : devices_compare(text, spec->devices, spec->n_devices, err);
}

static int v2_create(struct tree *t, const struct cgroup_pod_spec *spec, struct err *err)
{
	enum tree_node base = spec->exclusive ? NODE_SIDE : NODE_POD;
	struct group pod = {t, HIER_UNIFIED, base, spec->uid};
	int r = 0;

	if (spec->exclusive && !spec->emu_own)
		return err_set(err, -ENOTSUP,
			       "cgroup v2 keeps others off a whole pod's CPUs only, and this one's "
			       "other threads run in the shared pool: spec.domain.cpu."
			       "isolateEmulatorThread gives them a CPU of their own");
	if (spec->exclusive) /* an overlap would end a neighbour's partition */
		r = v2_cpuset_check(t, spec, err);
	if (!r)
		r = make_groups(t, spec, base, err);
	if (!r)
		r = set_limits(&pod, &spec->limits, err);
	if (!r)
		r = set_devices(&pod, spec, err);
	if (!r)
		r = v2_cpuset_setup(t, spec, base, err);
	return r;
}

/* Written to a threaded child, 0 moves the whole process, from whatever domain it was in. */
static int v2_enter(struct tree *t, const char *uid, bool born, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	enum tree_node base = NODE_POD;
	struct group emu;
	int r = v2_base(t, uid, &base, err);

	if (r < 0 || born)
		return r;
	emu = v2_child(t, uid, base, CGROUP_EMU);
	r = group_write(&emu, "cgroup.procs", "0", err);
	if (!r)
		r = members_read(0, &text, err);
	if (!r && !members_at(text, &emu))
		r = err_set(err, -EIO,
			    "cgroup unified: pod '%s' was entered but the kernel says: %.400s", uid,
			    text);
	return r;
}

static int v2_birthplace(struct tree *t, const char *uid, int *ret_fd, struct err *err)
{
	enum tree_node base = NODE_POD;
	struct group emu;
	int r = v2_base(t, uid, &base, err);

	if (r < 0)
		return r;
	emu = v2_child(t, uid, base, CGROUP_EMU);
	return group_open_dir(&emu, ret_fd, err);
}

static int v2_place(struct tree *t, const char *uid, pid_t tid, enum cgroup_place place,
		    struct err *err)
{
	enum tree_node base;
	struct group g;
	bool there = false;
	int r = v2_base(t, uid, &base, err);

	if (r < 0)
		return r;
	g = v2_child(t, uid, base, place);
	r = group_exists(&g, &there, err);
	if (!r && !there)
		r = err_set(err, -ENOENT, "cgroup unified: pod '%s' has no group for %s", uid,
			    place == CGROUP_VCPU ? "vCPUs (no dedicated CPUs)" : "anything");
	return r < 0 ? r : threaded_move(t, uid, g.node, tid, err);
}

const struct cgroup_ops cgroup_v2_ops = {
	.mode = "v2",
	.create = v2_create,
	.enter = v2_enter,
	.birthplace = v2_birthplace,
	.place = v2_place,
	.set_emu_cpus = v2_cpuset_set_emu,
	.repair = v2_cpuset_repair,
	.release = v2_cpuset_release,
	.read = v2_read,
};
