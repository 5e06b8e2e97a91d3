// SPDX-License-Identifier: Apache-2.0
/* The public face: checks what comes in, and does what is the same on every kind of host. */
#include "cgroups/cgroup.h"

#include "cgroups/backend.h"
#include "cgroups/devices.h"
#include "cgroups/foreign.h"
#include "cgroups/group.h"
#include "cgroups/members.h"
#include "cgroups/v2.h"
#include "cgroups/walk.h"
#include "lib/cpus.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A killed process frees some 10 GiB a second (measured, 4 KiB pages) and leaves its group after. */
#define DYING_WAIT_MS 1000

struct cgroup_host {
	const struct cgroup_ops *ops;
	struct tree *tree; /* owned */
};

int cgroup_host_open(const char *tag, struct cgroup_host **ret, struct err *err)
{
	struct tree *tree;
	struct cgroup_host *h;
	int r = tree_open(tag, &tree, err);

	if (r < 0)
		return r;
	h = xcalloc(1, sizeof *h);
	h->ops = tree->v2 ? &cgroup_v2_ops : &cgroup_v1_ops;
	h->tree = tree;
	*ret = h;
	return 0;
}

void cgroup_host_free(struct cgroup_host *h)
{
	if (!h)
		return;
	tree_free(h->tree);
	free(h);
}

bool cgroup_host_v2(const struct cgroup_host *h)
{
	return h->tree->v2;
}

int cgroup_partition_try(struct cgroup_host *h, struct err *err)
{
	if (!h->tree->v2)
		return err_set(err, -ENOTSUP, "cgroup v1 has no partitions");
	return v2_partition_try(h->tree, err);
}

int cgroup_host_remove(struct cgroup_host *h, struct err *err)
{
	char **uids = NULL;
	size_t n = 0;
	int r = walk_list(h->tree, &uids, &n, err);

	cgroup_list_free(uids, n);
	for (int i = 0; !r && !n && i < HIER_MAX; i++) {
		struct group top = {h->tree, (enum tree_hier)i, NODE_TOP, NULL};

		if (tree_has(h->tree, top.hier))
			r = group_remove(&top, err);
	}
	return r;
}

static int check_uid(const struct cgroup_host *h, const char *uid, struct err *err)
{
	char path[TREE_PATH_MAX];

	return tree_path(h->tree, NODE_POD, uid, path, err);
}

static int check_spec(const struct cgroup_pod_spec *spec, struct err *err)
{
	const struct cgroup_limits *l = &spec->limits;
	char text[CPUS_TEXT_MAX];
	cpu_set_t both;

	if (!CPU_COUNT(&spec->emu))
		return err_set(
			err, -EINVAL,
			"cgroup: pod '%s' has no CPU for anything but vCPUs; at least one is "
			"needed",
			spec->uid);
	CPU_AND(&both, &spec->emu, &spec->vcpu);
	if (CPU_COUNT(&both))
		return err_set(
			err, -EINVAL,
			"cgroup: pod '%s': CPUs %.200s are wanted for vCPUs and for the rest; "
			"the sets must be disjoint",
			spec->uid, cpus_format(&both, text));
	if (!l->cpu_quota_us != !l->cpu_period_us)
		return err_set(err, -EINVAL, "cgroup: pod '%s': CPU quota and period go together",
			       spec->uid);
	if (!spec->devices && spec->n_devices)
		return err_set(err, -EINVAL, "cgroup: pod '%s': %u devices, but no list", spec->uid,
			       spec->n_devices);
	for (unsigned i = 0; i < spec->n_devices; i++) {
		int r = devices_check(&spec->devices[i], err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* As walk_exists, and -ENOENT when it doesn't. */
static int need_pod(struct cgroup_host *h, const char *uid, struct err *err)
{
	bool there;
	int r = check_uid(h, uid, err);

	if (!r)
		r = walk_exists(h->tree, uid, &there, err);
	if (!r && !there)
		r = err_set(err, -ENOENT, "cgroup: pod '%s' has no groups", uid);
	return r;
}

int cgroup_pod_create(struct cgroup_host *h, const struct cgroup_pod_spec *spec, struct err *err)
{
	bool there;
	int r = check_uid(h, spec->uid, err);

	if (!r)
		r = check_spec(spec, err);
	if (!r)
		r = walk_exists(h->tree, spec->uid, &there, err);
	if (r < 0)
		return r;
	if (there)
		return err_set(err, -EEXIST,
			       "cgroup: pod '%s' has groups already; destroy what an earlier start "
			       "left",
			       spec->uid);
	r = h->ops->create(h->tree, spec, err);
	if (r < 0)
		(void)cgroup_pod_destroy(h, spec->uid, NULL); /* the first error is the cause */
	return r;
}

int cgroup_pod_enter(struct cgroup_host *h, const char *uid, bool born, struct err *err)
{
	int r = need_pod(h, uid, err);

	return r < 0 ? r : h->ops->enter(h->tree, uid, born, err);
}

int cgroup_pod_birthplace(struct cgroup_host *h, const char *uid, int *ret_fd, struct err *err)
{
	int r = need_pod(h, uid, err);

	return r < 0 ? r : h->ops->birthplace(h->tree, uid, ret_fd, err);
}

int cgroup_pod_has_task(struct cgroup_host *h, const char *uid, pid_t tid, bool *ret,
			struct err *err)
{
	_cleanup_free_ char *text = NULL;
	bool in_all = true;
	int r = check_uid(h, uid, err);

	if (!r && tid <= 0)
		r = err_set(err, -EINVAL, "cgroup: %d is no thread id", (int)tid);
	if (!r)
		r = members_read(tid, &text, err);
	if (r < 0)
		return r;
	for (int i = 0; i < HIER_MAX; i++) {
		struct group pod = {h->tree, (enum tree_hier)i, NODE_POD, uid};
		struct group side = {h->tree, (enum tree_hier)i, NODE_SIDE, uid};

		if (tree_has(h->tree, pod.hier) && !members_below(text, &pod) &&
		    !members_below(text, &side))
			in_all = false;
	}
	*ret = in_all;
	return 0;
}

int cgroup_pod_place(struct cgroup_host *h, const char *uid, pid_t tid, enum cgroup_place place,
		     struct err *err)
{
	bool ours;
	int r = cgroup_pod_has_task(h, uid, tid, &ours, err);

	if (r < 0)
		return r;
	if (!ours)
		return err_set(err, -EPERM, "cgroup: thread %d doesn't belong to pod '%s'",
			       (int)tid, uid);
	return h->ops->place(h->tree, uid, tid, place, err);
}

int cgroup_pod_set_emu_cpus(struct cgroup_host *h, const char *uid, const cpu_set_t *cpus,
			    struct err *err)
{
	int r = need_pod(h, uid, err);

	if (!r && !CPU_COUNT(cpus))
		r = err_set(err, -EINVAL, "cgroup: pod '%s' can't be left without CPUs", uid);
	return r < 0 ? r : h->ops->set_emu_cpus(h->tree, uid, cpus, err);
}

int cgroup_pod_repair(struct cgroup_host *h, const char *uid, const cpu_set_t *emu,
		      const cpu_set_t *vcpu, struct err *err)
{
	int r = need_pod(h, uid, err);

	return r < 0 || !h->ops->repair ? r : h->ops->repair(h->tree, uid, emu, vcpu, err);
}

/* The pod's group in the unified tree: in v2's second form it stands beside our top group. */
static int find_unified(struct cgroup_host *h, const char *uid, struct group *ret, struct err *err)
{
	struct group side = {h->tree, HIER_UNIFIED, NODE_SIDE, uid};
	bool beside = false;
	int r = h->tree->v2 ? group_exists(&side, &beside, err) : 0;

	if (r < 0)
		return r;
	*ret = beside ? side : (struct group){h->tree, HIER_UNIFIED, NODE_POD, uid};
	return 0;
}

int cgroup_pod_kill(struct cgroup_host *h, const char *uid, struct err *err)
{
	struct group g;
	struct err why = {0};
	bool there = false;
	int r = check_uid(h, uid, err);

	if (!r && !tree_has(h->tree, HIER_UNIFIED))
		r = err_set(err, -ENOTSUP,
			    "cgroup: no cgroup2 mount, so a pod can't be killed as a whole; kill "
			    "its PID 1");
	if (!r)
		r = find_unified(h, uid, &g, err);
	if (!r)
		r = group_exists(&g, &there, err);
	if (r < 0 || !there)
		return r;
	r = group_write(&g, "cgroup.kill", "1", &why);
	if (r == -ENOENT) /* Linux 5.14 brought it */
		return err_set(err, -ENOTSUP,
			       "cgroup: this kernel has no cgroup.kill; kill the pod's PID 1");
	return r < 0 ? err_set(err, r, "%s", why.msg) : 0;
}

int cgroup_pod_events(struct cgroup_host *h, const char *uid, int *ret_fd, struct err *err)
{
	struct group g;
	int r = check_uid(h, uid, err);

	if (!r && !tree_has(h->tree, HIER_UNIFIED))
		r = err_set(err, -ENOTSUP, "cgroup: no cgroup2 mount, so there are no events");
	if (!r)
		r = find_unified(h, uid, &g, err);
	return r < 0 ? r : group_open(&g, "cgroup.events", O_RDONLY, ret_fd, err);
}

int cgroup_pod_partition_events(struct cgroup_host *h, const char *uid, enum cgroup_place place,
				int *ret_fd, struct err *err)
{
	enum tree_node node = place == CGROUP_VCPU ? NODE_SIDE_VCPU : NODE_SIDE;
	struct group g = {h->tree, HIER_UNIFIED, node, uid};
	int r = check_uid(h, uid, err);

	if (!r && !h->tree->v2)
		r = err_set(err, -ENOENT, "cgroup v1 has no partitions");
	return r < 0 ? r : group_open(&g, "cpuset.cpus.partition", O_RDONLY, ret_fd, err);
}

int cgroup_pod_partition_folders(struct cgroup_host *h, const char *uid,
				 int ret_fds[static CGROUP_PARTITION_FOLDERS], struct err *err)
{
	const struct group groups[CGROUP_PARTITION_FOLDERS] = {
		{h->tree, HIER_UNIFIED, NODE_SIDE, uid},
		{h->tree, HIER_UNIFIED, NODE_SIDE_EMU, uid},
		{h->tree, HIER_UNIFIED, NODE_SIDE_VCPU, uid},
	};
	int fds[CGROUP_PARTITION_FOLDERS];
	int r = check_uid(h, uid, err);
	size_t n = 0;

	if (!r && !h->tree->v2)
		r = err_set(err, -ENOENT, "cgroup v1 has no partitions");
	while (!r && n < ARRAY_SIZE(fds)) {
		r = group_open_dir(&groups[n], &fds[n], err);
		n += r == 0;
	}
	if (r == 0)
		memcpy(ret_fds, fds, sizeof fds);
	while (r < 0 && n > 0)
		(void)fd_close(fds[--n]);
	return r;
}

/* Kubernetes' formula (kubelet, KEP-2254), which maps 2…262144 to 1…10000. */
uint64_t cgroup_cpu_weight(uint64_t shares)
{
	return 1 + (shares - 2) * 9999 / 262142;
}

int cgroup_pod_empty(struct cgroup_host *h, const char *uid, bool *ret, struct err *err)
{
	pid_t tid;
	int r = check_uid(h, uid, err);

	if (!r)
		r = walk_any_task(h->tree, uid, &tid, err);
	if (!r)
		*ret = tid == 0;
	return r;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts); /* can't fail with this clock */
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Wait until the kernel reports the pod as empty, or the time is over; the caller looks again. */
static void wait_dying(struct cgroup_host *h, const char *uid)
{
	int64_t end = now_ms() + DYING_WAIT_MS;
	_cleanup_fd_ int fd = -1;

	if (cgroup_pod_events(h, uid, &fd, NULL) < 0)
		return;
	for (int64_t left = DYING_WAIT_MS; left > 0; left = end - now_ms()) {
		struct pollfd p = {.fd = fd, .events = POLLPRI};
		char text[256];
		ssize_t n = pread(fd, text, sizeof text - 1, 0); /* also re-arms the poll */

		if (n < 0)
			return;
		text[n] = 0;
		if (strstr(text, "populated 0"))
			return;
		(void)poll(&p, 1, (int)left); /* EINTR: the loop looks at the clock */
	}
}

int cgroup_pod_destroy(struct cgroup_host *h, const char *uid, struct err *err)
{
	pid_t tid = 0;
	int r = check_uid(h, uid, err);

	if (!r)
		r = walk_any_task(h->tree, uid, &tid, err);
	if (!r && tid) {
		wait_dying(h, uid);
		r = walk_any_task(h->tree, uid, &tid, err);
	}
	if (r < 0)
		return r;
	if (tid)
		return err_set(err, -EBUSY,
			       "cgroup: pod '%s' can't be removed: process %d is still inside", uid,
			       (int)tid);
	if (h->ops->release)
		h->ops->release(h->tree, uid);
	r = walk_remove(h->tree, uid, err);
	if (!r && h->ops->settle)
		r = h->ops->settle(h->tree, err);
	return r < 0 ? r : cgroup_host_remove(h, err);
}

int cgroup_pod_read(struct cgroup_host *h, const char *uid, json_t **ret, struct err *err)
{
	int r = need_pod(h, uid, err);

	return r < 0 ? r : h->ops->read(h->tree, uid, ret, err);
}

int cgroup_find_foreign(struct cgroup_host *h, const cpu_set_t *cpus, struct foreign_task *ret,
			struct err *err)
{
	return foreign_find(h->tree, cpus, ret, err);
}

int cgroup_list(struct cgroup_host *h, char ***ret_uids, size_t *ret_n, struct err *err)
{
	return walk_list(h->tree, ret_uids, ret_n, err);
}

void cgroup_list_free(char **uids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(uids[i]);
	free(uids);
}
