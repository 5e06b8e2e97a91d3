// SPDX-License-Identifier: Apache-2.0
/*
 * Partitions, tried without taking a CPU from anybody. A partition with CPUs would shrink every other
 * group's, and Linux 6.1 then gives all threads in them the whole set, whatever they were pinned to. So it
 * does to the root group's even where an invalid partition becomes "member" again (tried): the group is
 * removed as it is.
 */
#include "cgroups/v2.h"

#include "lib/util.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>

#define TRY_UID "00000000-0000-4000-8000-000000000000" /* no pod's: theirs are random */

/* "root invalid (cpuset.cpus is empty)" is a kernel that knows the word. */
static int ask(const struct group *g, const char *kind, struct err *err)
{
	_cleanup_free_ char *have = NULL;
	struct err why = {0};
	int r = group_write(g, "cpuset.cpus.partition", kind, &why);

	if (r == 0)
		r = group_read(g, "cpuset.cpus.partition", &have, &why);
	if (r < 0)
		return err_set(err, -ENOTSUP, "partition '%s' was tried: %s", kind, why.msg);
	if (str_eq(have, kind) || (str_after(have, kind) && strstr(have, " invalid")))
		return 0;
	return err_set(err, -ENOTSUP, "partition '%s' was tried, the kernel says '%.200s'", kind,
		       have);
}

static int ask_all(struct tree *t, const struct group *g, struct err *err)
{
	_cleanup_free_ char *have = NULL;
	cpu_set_t any;
	int r = group_read(g, "cpuset.cpus", &have, NULL);

	if (r == -ENOENT)
		return err_set(err, -EAGAIN,
			       "cpuset is not in cgroup.subtree_control of the root group, so that "
			       "there is no group to try in");
	r = ask(g, "root", err);
	if (r == 0)
		r = ask(g, "isolated", err);
	memset(&any, 0xff, sizeof any);
	return r < 0 ? r : v2_cpuset_beside(t, NULL, &any, err);
}

int v2_partition_try(struct tree *t, struct err *err)
{
	struct group root = {t, HIER_UNIFIED, NODE_ROOT, NULL};
	struct group g = {t, HIER_UNIFIED, NODE_SIDE, TRY_UID};
	_cleanup_fd_ int fd = -1; /* the lock goes with it */
	struct err undo = {0};
	int r = group_open_dir(&root, &fd, err);

	if (r < 0)
		return r;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return err_set(err, -EBUSY, "another process is trying partitions: look again");
	r = group_remove(&g, err); /* of one that was killed */
	if (r == 0)
		r = group_make(&g, err);
	if (r < 0)
		return r;
	r = ask_all(t, &g, err);
	if (group_remove(&g, &undo) < 0 && r == 0)
		return err_set(err, undo.code, "%s", undo.msg);
	return r;
}
