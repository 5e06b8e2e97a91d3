// SPDX-License-Identifier: Apache-2.0
/* Links on both sides of the pod's wires, each read in the namespace where its packets are. */
#include "handler/inspect_internal.h"

#include "handler/linknames.h"

#include "lib/json.h"
#include "lib/util.h"
#include "net/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* The namespace that QEMU is really in (or, before it is there, the launcher), not the one we pinned. */
static int pod_links(const json_t *processes, json_t **ret, struct err *err)
{
	const json_t *process = inspect_find(processes, "qemu");
	_cleanup_fd_ int netns = -1;
	char path[64];

	if (!process)
		process = inspect_find(processes, "launcher");
	if (!process || json_flag(process, "namespaces.net.host", true)) {
		*ret = json_array(); /* the host's links are not the pod's */
		return 0;
	}
	(void)snprintf(path, sizeof path, "/proc/%d/ns/net", (int)json_u64(process, "pid", 0));
	netns = open(path, O_RDONLY | O_CLOEXEC);
	if (netns < 0 && errno == ENOENT) {
		*ret = json_array();
		return 0;
	}
	if (netns < 0)
		return err_errno(err, -errno, "%s", path);
	return net_read_links(netns, ret, err);
}

static bool is_this_pods(const struct pod *pod, const char *name)
{
	for (unsigned i = 0; pod->plan && i < pod->plan->n_nics; i++) {
		struct link_names names;

		link_names(&pod->h->paths, pod->record.uid, &pod->plan->nics[i], &names);
		if (str_eq(name, names.veth) || str_eq(name, names.bridge))
			return true;
	}
	return false;
}

static int host_links(const struct inspect *in, json_t **ret, struct err *err)
{
	_cleanup_json_ json_t *ours = NULL;
	json_t *list, *link;
	size_t i;
	int r = net_list_ours(in->h->paths.tag, &ours, err);

	if (r < 0)
		return r;
	list = json_array();
	json_array_foreach (ours, i, link)
		if (is_this_pods(in->pod, json_str(link, "name")))
			(void)json_array_append(list, link);
	*ret = list;
	return 0;
}

int inspect_links(const struct inspect *in, const json_t *processes, json_t **ret, struct err *err)
{
	_cleanup_json_ json_t *pod = NULL, *host = NULL;
	int r = pod_links(processes, &pod, err);

	if (r == 0)
		r = host_links(in, &host, err);
	if (r < 0)
		return r;
	*ret = json_pack("{s:O, s:O}", "pod", pod, "host", host);
	return 0;
}
