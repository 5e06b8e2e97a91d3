// SPDX-License-Identifier: Apache-2.0
#include "cgroups/threaded.h"

#include "cgroups/members.h"
#include "lib/util.h"

#include <errno.h>

static int check_node(enum tree_node node, struct err *err)
{
	if (node == NODE_EMU || node == NODE_VCPU || node == NODE_SIDE_EMU ||
	    node == NODE_SIDE_VCPU)
		return 0;
	return err_set(err, -EINVAL, "cgroup unified: only children of a pod can be threaded");
}

int threaded_make(const struct tree *t, const char *uid, enum tree_node node, struct err *err)
{
	struct group g = {t, HIER_UNIFIED, node, uid};
	int r = check_node(node, err);

	if (!r)
		r = group_make(&g, err);
	if (r < 0)
		return r;
	r = group_set(&g, "cgroup.type", "threaded", "threaded", err);
	if (r < 0)
		(void)group_remove(&g, NULL); /* empty still, and the first error is the cause */
	return r;
}

int threaded_move(const struct tree *t, const char *uid, enum tree_node node, pid_t tid,
		  struct err *err)
{
	struct group g = {t, HIER_UNIFIED, node, uid};
	_cleanup_free_ char *text = NULL;
	char number[24];
	int r = check_node(node, err);

	(void)snprintf(number, sizeof number, "%d", (int)tid);
	if (!r)
		r = group_write(&g, "cgroup.threads", number, err);
	if (!r)
		r = members_read(tid, &text, err);
	if (!r && !members_at(text, &g))
		r = err_set(err, -EIO,
			    "cgroup unified: thread %d of pod '%s' was moved but the kernel says: "
			    "%.400s",
			    (int)tid, uid, text);
	return r;
}
