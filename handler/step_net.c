// SPDX-License-Identifier: Apache-2.0
/*
 * Step net: the pod's network namespace, pinned at run/netns/UID, and in it the wiring of each
 * interface to its network's host bridge. A host bridge lives while a pod uses it: the last one's undo
 * removes it.
 */
#include "handler/steps.h"

#include "handler/linknames.h"
#include "handler/wires.h"

#include "net/bridge.h"
#include "net/l2bridge.h"
#include "net/names.h"
#include "net/netns.h"
#include "net/tap.h"

#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int open_netns_dir(struct handler *h, int *ret, struct err *err)
{
	int r = mkdir_p_at(h->paths.run_fd, "netns", 0700);
	int fd = r < 0 ? -1 : openat(h->paths.run_fd, "netns", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (r == 0 && fd < 0)
		r = -errno;
	if (r < 0)
		return err_errno(err, r, "%s/netns", h->paths.run);
	*ret = fd;
	return 0;
}

static void fill_spec(const struct pod *pod, const struct plan_nic *nic,
		      const struct link_names *names, struct l2bridge_spec *ret)
{
	*ret = (struct l2bridge_spec){
		.tag = pod->h->paths.tag,
		.mtu = nic->mtu,
		.queues = nic->queues,
		.owner = pod->record.host_id,
		.group = pod->record.host_id,
	};
	(void)names_pod_nic(nic->name, /* is_pod_network= */ false, ret->pod_ifname);
	memcpy(ret->bridge, names->bridge, sizeof ret->bridge);
	memcpy(ret->host_ifname, names->veth, sizeof ret->host_ifname);
	memcpy(ret->pod_mac, nic->mac, sizeof ret->pod_mac);
}

/* QEMU 7.2 aborts on vhost=on without a device. */
static int add_vhost(struct pod *pod, const struct plan_nic *nic, unsigned queue, struct err *err)
{
	int fd = open("/dev/vhost-net", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return err_errno(err, -errno, "/dev/vhost-net");
	pod_add_fd(pod, fd, "vhost:%s:%u", nic->name, queue);
	return 0;
}

static int add_nic(struct pod *pod, const struct plan_nic *nic, struct err *err)
{
	struct link_names names;
	struct l2bridge_spec spec;
	int taps[TAP_QUEUES_MAX];
	int r;

	link_names(&pod->h->paths, pod->record.uid, nic, &names);
	r = net_bridge_ensure(&(struct net_bridge_spec){.name = names.bridge,
							.tag = names.bridge_tag,
							.mtu = nic->mtu,
							.gateway = nic->gateway},
			      err);
	if (r < 0)
		return r;
	fill_spec(pod, nic, &names, &spec);
	r = l2bridge_setup(pod->netns_fd, &spec, taps, err);
	if (r < 0)
		return r;
	for (unsigned q = 0; q < nic->queues; q++)
		pod_add_fd(pod, taps[q], "tap:%s:%u", nic->name, q);
	for (unsigned q = 0; r == 0 && nic->vhost && q < nic->queues; q++)
		r = add_vhost(pod, nic, q, err);
	return r;
}

int step_net(struct pod *pod, struct err *err)
{
	_cleanup_fd_ int dir = -1;
	int r = open_netns_dir(pod->h, &dir, err);

	if (r < 0 || !pod->plan->isolation.net)
		return r;
	r = netns_create(dir, pod->record.uid, &pod->netns_fd, err);
	for (unsigned i = 0; r == 0 && i < pod->plan->n_nics; i++) {
		r = add_nic(pod, &pod->plan->nics[i], err);
		if (r < 0)
			err_prefix(err, "interface '%s'", pod->plan->nics[i].name);
	}
	return r;
}

static int remove_nic(struct pod *pod, const struct plan_nic *nic, struct err *err)
{
	struct link_names names;
	struct l2bridge_spec spec;
	struct err refusal = {0};
	int r, bridge;

	link_names(&pod->h->paths, pod->record.uid, nic, &names);
	fill_spec(pod, nic, &names, &spec);
	/* EPERM: it never was ours, the step failed for that */
	r = l2bridge_teardown(&spec, &refusal);
	if (r < 0 && r != -EPERM)
		(void)err_set(err, r, "%s", refusal.msg);
	else
		r = 0;
	err_clear(&refusal);
	bridge = net_bridge_remove(names.bridge, names.bridge_tag, &refusal);
	if (bridge < 0 && bridge != -EPERM)
		r = r < 0 ? r : err_set(err, bridge, "%s", refusal.msg);
	return r; /* a bridge with another pod's port on it stays */
}

int undo_net(struct pod *pod, struct err *err)
{
	_cleanup_fd_ int dir = -1;
	int r = open_netns_dir(pod->h, &dir, err), first = r;

	wires_unwatch(pod); /* it would keep the namespace */
	pod->netns_fd = fd_close(pod->netns_fd);
	for (unsigned i = 0; pod->plan && i < pod->plan->n_nics; i++) {
		r = remove_nic(pod, &pod->plan->nics[i], err);
		first = first < 0 ? first : r;
	}
	if (dir >= 0)
		r = netns_destroy(dir, pod->record.uid, err);
	return first < 0 ? first : r;
}
