// SPDX-License-Identifier: Apache-2.0
#include "cgroups/walk.h"

#include "cgroups/cgroup.h"
#include "cgroups/group.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>

/* All groups that a pod can have in one hierarchy. */
static const enum tree_node pod_nodes[] = {NODE_SIDE, NODE_POD};

int walk_exists(const struct tree *t, const char *uid, bool *ret, struct err *err)
{
	bool there = false;

	for (int i = 0; !there && i < HIER_MAX; i++) {
		for (size_t k = 0; !there && k < ARRAY_SIZE(pod_nodes); k++) {
			struct group g = {t, (enum tree_hier)i, pod_nodes[k], uid};
			int r = tree_has(t, g.hier) ? group_exists(&g, &there, err) : 0;

			if (r < 0)
				return r;
		}
	}
	*ret = there;
	return 0;
}

/*
 * Threaded children, too: once a dying process has no thread but one that still gives back memory, the
 * pod's own cgroup.procs is empty, and the group can't be removed.
 */
int walk_any_task(const struct tree *t, const char *uid, pid_t *ret, struct err *err)
{
	static const enum tree_node nodes[] = {NODE_SIDE, NODE_POD,	 NODE_EMU,
					       NODE_VCPU, NODE_SIDE_EMU, NODE_SIDE_VCPU};
	pid_t tid = 0;

	for (int i = 0; !tid && i < HIER_MAX; i++) {
		size_t n = i == HIER_UNIFIED ? ARRAY_SIZE(nodes) : 2;

		for (size_t k = 0; !tid && k < n; k++) {
			struct group g = {t, (enum tree_hier)i, nodes[k], uid};
			bool there = false;
			int r = tree_has(t, g.hier) ? group_exists(&g, &there, err) : 0;

			if (!r && there)
				r = group_any_task(&g, &tid, err);
			if (r < 0)
				return r;
		}
	}
	*ret = tid;
	return 0;
}

int walk_remove(const struct tree *t, const char *uid, struct err *err)
{
	for (int i = 0; i < HIER_MAX; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(pod_nodes); k++) {
			struct group g = {t, (enum tree_hier)i, pod_nodes[k], uid};
			int r = tree_has(t, g.hier) ? group_remove(&g, err) : 0;

			if (r < 0)
				return r;
		}
	}
	return 0;
}

struct uid_list {
	char **uids;
	size_t n;
};

static void add_uid(struct uid_list *l, const char *uid)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->uids[i], uid))
			return;
	l->uids = xrealloc(l->uids, l->n + 1, sizeof *l->uids);
	l->uids[l->n++] = xstrdup(uid);
}

static int add_uids_in(const struct tree *t, enum tree_hier hier, enum tree_node in,
		       struct uid_list *l, struct err *err)
{
	struct group g = {t, hier, in, NULL};
	char uid[TREE_UID_LEN + 1];
	char **names = NULL;
	bool there = false;
	int r = tree_has(t, hier) ? group_exists(&g, &there, err) : 0;

	if (!r && there)
		r = group_names(&g, &names, err);
	for (char **p = names; p && *p; p++)
		if (tree_uid_of(t, in, *p, uid))
			add_uid(l, uid);
	group_names_free(names);
	return r;
}

static int compare_uids(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int walk_list(const struct tree *t, char ***ret_uids, size_t *ret_n, struct err *err)
{
	struct uid_list l = {0};
	int r = 0;

	for (int i = 0; !r && i < HIER_MAX; i++) {
		r = add_uids_in(t, (enum tree_hier)i, NODE_TOP, &l, err);
		if (!r)
			r = add_uids_in(t, (enum tree_hier)i, NODE_ROOT, &l, err);
	}
	if (r < 0) {
		cgroup_list_free(l.uids, l.n);
		return r;
	}
	if (l.n)
		qsort(l.uids, l.n, sizeof *l.uids, compare_uids);
	*ret_uids = l.uids;
	*ret_n = l.n;
	return 0;
}
