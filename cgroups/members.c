// SPDX-License-Identifier: Apache-2.0
#include "cgroups/members.h"

#include "cgroups/mounts.h"
#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define TEXT_MAX (1U << 20)

int members_read(pid_t tid, char **ret, struct err *err)
{
	char path[64] = "/proc/thread-self/cgroup";
	int r;

	if (tid < 0)
		return err_set(err, -EINVAL, "cgroup: %d is no thread id", (int)tid);
	if (tid)
		(void)snprintf(path, sizeof path, "/proc/%d/cgroup", (int)tid);
	r = file_read_at(AT_FDCWD, path, TEXT_MAX, ret, NULL);
	if (r == -ENOENT || r == -ESRCH)
		return err_set(err, -ESRCH, "cgroup: thread %d doesn't exist any more", (int)tid);
	return r < 0 ? err_errno(err, r, "%s", path) : 0;
}

/* Path of the hierarchy's line, "ID:CONTROLLERS:PATH"; NULL when there is none. */
static const char *find_path(const char *text, enum tree_hier hier, size_t *ret_len)
{
	for (const char *p = text; *p;) {
		const char *end = strchrnul(p, '\n');
		const char *list = memchr(p, ':', (size_t)(end - p));
		const char *path = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
		size_t len = path ? (size_t)(path - list - 1) : 0;

		if (path &&
		    (hier == HIER_UNIFIED ? !len && *p == '0'
					  : mounts_word_in(list + 1, len, tree_hier_name(hier)))) {
			*ret_len = (size_t)(end - path - 1);
			return path + 1;
		}
		p = *end ? end + 1 : end;
	}
	return NULL;
}

static bool matches(const char *text, const struct group *g, bool below)
{
	char rel[TREE_PATH_MAX];
	_cleanup_free_ char *want = NULL;
	size_t len, want_len;
	const char *path = find_path(text, g->hier, &len);

	if (!path || !tree_has(g->tree, g->hier) ||
	    tree_path(g->tree, g->node, g->uid, rel, NULL) < 0)
		return false;
	want = xasprintf("%s/%s", g->tree->root[g->hier], rel);
	want_len = strlen(want);
	if (len < want_len || memcmp(path, want, want_len) != 0)
		return false;
	return len == want_len || (below && path[want_len] == '/');
}

bool members_at(const char *text, const struct group *g)
{
	return matches(text, g, /* below= */ false);
}

bool members_below(const char *text, const struct group *g)
{
	return matches(text, g, /* below= */ true);
}
