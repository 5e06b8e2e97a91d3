// SPDX-License-Identifier: Apache-2.0
/*
 * v1 cpusets. A fresh group has neither CPUs nor nodes and takes no task (ENOSPC); a child's set
 * must lie within its parent's; and with cpu_exclusive no sibling may overlap, which is refused on
 * whichever side comes later (cpusets(7)). Hence: nodes before CPUs, parents grow first and shrink
 * last, and our top group holds no CPU that no pod of it has.
 */
#include "cgroups/group.h"
#include "cgroups/v1.h"
#include "lib/cpus.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>

/* Write only a difference: the top group may be in use, and a rewrite may move its threads. */
static int fit(const struct group *g, const char *file, const cpu_set_t *want, struct err *err)
{
	cpu_set_t have;
	int r = group_read_set(g, file, &have, err);

	if (r < 0 || CPU_EQUAL(&have, want))
		return r;
	return group_set_set(g, file, want, err);
}

static int add_pods(struct tree *t, cpu_set_t *sum, struct err *err)
{
	struct group top = {t, HIER_CPUSET, NODE_TOP, NULL};
	_cleanup_(group_names_freep) char **names = NULL;
	char uid[TREE_UID_LEN + 1];
	int r = group_names(&top, &names, err);

	for (char **p = names; !r && *p; p++) {
		struct group pod = {t, HIER_CPUSET, NODE_POD, uid};
		cpu_set_t set;

		if (!tree_uid_of(t, NODE_TOP, *p, uid))
			continue;
		r = group_read_set(&pod, "cpuset.cpus", &set, err);
		if (!r)
			CPU_OR(sum, sum, &set);
	}
	return r;
}

int v1_cpuset_fit_top(struct tree *t, const cpu_set_t *extra, struct err *err)
{
	struct group root = {t, HIER_CPUSET, NODE_ROOT, NULL};
	struct group top = {t, HIER_CPUSET, NODE_TOP, NULL};
	cpu_set_t cpus, mems;
	bool there;
	int r = group_exists(&top, &there, err);

	if (r < 0 || !there)
		return r;
	CPU_ZERO(&cpus);
	if (extra)
		cpus = *extra;
	r = add_pods(t, &cpus, err);
	if (!r)
		r = group_read_set(&root, "cpuset.effective_mems", &mems, err);
	if (!r)
		r = fit(&top, "cpuset.mems", &mems, err);
	if (!r && CPU_COUNT(&cpus))
		r = fit(&top, "cpuset.cpus", &cpus, err);
	return r;
}

/* -EINVAL unless the host has all of `set`; the kernel itself would only say "Permission denied". */
static int check_on_host(struct tree *t, const char *file, const char *what, const cpu_set_t *set,
			 cpu_set_t *ret_host, struct err *err)
{
	struct group root = {t, HIER_CPUSET, NODE_ROOT, NULL};
	char text[CPUS_TEXT_MAX], host_text[CPUS_TEXT_MAX];
	cpu_set_t host, rest = *set;
	int r = group_read_set(&root, file, &host, err);

	if (r < 0)
		return r;
	cpus_minus(&rest, &host);
	if (CPU_COUNT(&rest))
		return err_set(err, -EINVAL,
			       "cgroup cpuset: %s %.200s asked for, the host has %.200s online",
			       what, cpus_format(&rest, text), cpus_format(&host, host_text));
	*ret_host = host;
	return 0;
}

static int setup_group(const struct group *g, const cpu_set_t *mems, const cpu_set_t *cpus,
		       struct err *err)
{
	int r = group_set_set(g, "cpuset.mems", mems, err);

	return r < 0 ? r : group_set_set(g, "cpuset.cpus", cpus, err);
}

static int setup_side(struct tree *t, const struct cgroup_pod_spec *spec, const cpu_set_t *mems,
		      struct err *err)
{
	struct group side = {t, HIER_CPUSET, NODE_SIDE, spec->uid};
	struct err why = {0};
	int r = setup_group(&side, mems, &spec->vcpu, err);

	if (r < 0 || !spec->exclusive)
		return r;
	r = group_write(&side, "cpuset.cpu_exclusive", "1", &why);
	if (r == -EINVAL || r == -EACCES)
		return err_set(err, -ENOTSUP,
			       "the kernel does not keep other cpusets off these CPUs: some other "
			       "cpuset holds them; free them there");
	return r < 0 ? err_set(err, r, "%s", why.msg) : 0;
}

int v1_cpuset_setup(struct tree *t, const struct cgroup_pod_spec *spec, struct err *err)
{
	struct group pod = {t, HIER_CPUSET, NODE_POD, spec->uid};
	cpu_set_t all, host_cpus, host_mems;
	const cpu_set_t *mems = &spec->mems;
	int r;

	CPU_OR(&all, &spec->emu, &spec->vcpu);
	r = check_on_host(t, "cpuset.effective_cpus", "CPUs", &all, &host_cpus, err);
	if (!r)
		r = check_on_host(t, "cpuset.effective_mems", "NUMA nodes", mems, &host_mems, err);
	if (!r)
		r = v1_cpuset_fit_top(t, &spec->emu, err);
	if (!r && !CPU_COUNT(mems))
		mems = &host_mems;
	if (!r)
		r = setup_group(&pod, mems, &spec->emu, err);
	if (!r && CPU_COUNT(&spec->vcpu))
		r = setup_side(t, spec, mems, err);
	return r;
}

static int check_apart(struct tree *t, const char *uid, const cpu_set_t *cpus, struct err *err)
{
	struct group side = {t, HIER_CPUSET, NODE_SIDE, uid};
	char text[CPUS_TEXT_MAX];
	cpu_set_t vcpu, both;
	bool there;
	int r = group_exists(&side, &there, err);

	if (r < 0 || !there)
		return r;
	r = group_read_set(&side, "cpuset.cpus", &vcpu, err);
	if (r < 0)
		return r;
	CPU_AND(&both, &vcpu, cpus);
	if (!CPU_COUNT(&both))
		return 0;
	return err_set(
		err, -EINVAL,
		"cgroup cpuset: CPUs %.200s carry vCPUs of pod '%s' and can't carry its other "
		"threads, too",
		cpus_format(&both, text), uid);
}

int v1_cpuset_set_emu(struct tree *t, const char *uid, const cpu_set_t *cpus, struct err *err)
{
	struct group pod = {t, HIER_CPUSET, NODE_POD, uid};
	cpu_set_t host;
	int r = check_on_host(t, "cpuset.effective_cpus", "CPUs", cpus, &host, err);

	if (!r)
		r = check_apart(t, uid, cpus, err);
	if (!r)
		r = v1_cpuset_fit_top(t, cpus, err);
	if (!r)
		r = group_set_set(&pod, "cpuset.cpus", cpus, err);
	if (!r)
		r = v1_cpuset_fit_top(t, NULL, err);
	return r;
}
