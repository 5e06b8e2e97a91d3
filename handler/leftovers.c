// SPDX-License-Identifier: Apache-2.0
#include "handler/leftovers.h"

#include "handler/linknames.h"
#include "handler/pod.h"
#include "handler/poddir.h"

#include "net/bridge.h"
#include "net/l2bridge.h"
#include "net/netns.h"
#include "net/read.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* What r says is added up, so that one that resists keeps nobody from the rest. */
static int report(const char *what, const char *name, int r, const struct err *err)
{
	if (r < 0)
		log_error("leftover %s %s: %s", what, name, err->msg);
	else
		log_info("leftover %s %s: removed", what, name);
	return r < 0;
}

static int remove_cgroups(struct handler *h)
{
	struct err err = {0};
	char **uids = NULL;
	size_t n = 0;
	int bad = 0;

	if (cgroup_list(h->cgroups, &uids, &n, &err) < 0) {
		log_error("leftovers: %s", err.msg);
		return 1;
	}
	for (size_t i = 0; i < n; i++) {
		int r;

		if (pod_find(h, uids[i]))
			continue;
		err_clear(&err);
		r = cgroup_pod_kill(h->cgroups, uids[i], &err);
		if (r == 0 || r == -ENOTSUP) {
			err_clear(&err);
			r = cgroup_pod_destroy(h->cgroups, uids[i], &err);
		}
		bad += report("cgroup of pod", uids[i], r, &err);
	}
	cgroup_list_free(uids, n);
	return bad;
}

/* Call fn with every entry of a folder below run/ that no pod owns. */
static int each_orphan(struct handler *h, const char *folder,
		       int (*fn)(struct handler *h, int dirfd, const char *name, struct err *err))
{
	_cleanup_dir_ DIR *dir = NULL;
	struct dirent *de;
	int bad = 0, r = dir_open_at(h->paths.run_fd, folder, &dir);

	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		log_error("leftovers: %s/%s: %s", h->paths.run, folder, strerror(-r));
		return 1;
	}
	while ((de = readdir(dir))) {
		struct err err = {0};

		if (de->d_name[0] == '.' || pod_find(h, de->d_name))
			continue;
		bad += report(folder, de->d_name, fn(h, dirfd(dir), de->d_name, &err), &err);
	}
	return bad;
}

static int remove_netns(struct handler *h, int dir, const char *name, struct err *err)
{
	(void)h;
	return netns_destroy(dir, name, err);
}

static int remove_poddir(struct handler *h, int dir, const char *name, struct err *err)
{
	(void)dir;
	return poddir_destroy(h, name, err);
}

/* A pod's bridge is its own also when somebody took the pod's port away. */
static bool link_is_owned(struct handler *h, const char *ifname)
{
	for (struct pod *p = h->pods; p; p = p->next)
		for (unsigned i = 0; p->plan && i < p->plan->n_nics; i++) {
			struct link_names names;

			link_names(&h->paths, p->record.uid, &p->plan->nics[i], &names);
			if (str_eq(names.veth, ifname) || str_eq(names.bridge, ifname))
				return true;
		}
	return false;
}

static int remove_link(struct handler *h, const json_t *link, const char *kind)
{
	const char *name = json_str(link, "name");
	struct l2bridge_spec spec = {.tag = h->paths.tag};
	struct err err = {0};
	int r;

	if (!str_eq(json_str(link, "kind"), kind) || link_is_owned(h, name))
		return 0;
	if (str_eq(kind, "bridge")) {
		r = net_bridge_remove(name, h->paths.tag, &err);
		if (r == 1)
			return 0; /* a pod's port is on it */
	} else {
		(void)snprintf(spec.host_ifname, sizeof spec.host_ifname, "%s", name);
		r = l2bridge_teardown(&spec, &err);
	}
	return report(kind, name, r, &err);
}

static int remove_links(struct handler *h)
{
	_cleanup_json_ json_t *links = NULL;
	struct err err = {0};
	json_t *link;
	int bad = 0;
	size_t i;

	if (net_list_ours(h->paths.tag, &links, &err) < 0) {
		log_error("leftovers: %s", err.msg);
		return 1;
	}
	/* ports first: a bridge with ports stays */
	json_array_foreach (links, i, link)
		bad += remove_link(h, link, "veth");
	json_array_foreach (links, i, link)
		bad += remove_link(h, link, "bridge");
	return bad;
}

int leftovers_remove(struct handler *h)
{
	int bad = remove_cgroups(h); /* and with them the processes: what follows is then unused */

	bad += each_orphan(h, "pods", remove_poddir);
	bad += remove_links(h);
	return bad + each_orphan(h, "netns", remove_netns);
}
