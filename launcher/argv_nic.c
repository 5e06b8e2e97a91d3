// SPDX-License-Identifier: Apache-2.0
#include "launcher/argv_internal.h"

#include <errno.h>

/* QEMU's names of the models that KubeVirt has. */
static const struct {
	const char *name;
	bool pcie, virtio;
} models[] = {
	{"virtio-net-pci", true, true},
	{"e1000e", true, false},
	{"e1000", false, false},
	{"rtl8139", false, false},
};

static int check_fds(const struct argv *a, unsigned i, struct err *err)
{
	const struct plan_nic *nic = &a->plan->nics[i];
	const struct argv_nic_fds *f;

	if (!a->fds)
		return 0;
	f = &a->fds->nic[i];
	if (f->n_tap != nic->queues)
		return err_set(err, -EINVAL, "interface '%s': %u tap descriptors for %u queues",
			       nic->name, f->n_tap, nic->queues);
	if (f->n_vhost != (nic->vhost ? nic->queues : 0))
		return err_set(err, -EINVAL,
			       "interface '%s': %u vhost descriptors, the plan says %u", nic->name,
			       f->n_vhost, nic->vhost ? nic->queues : 0);
	return 0;
}

/* "fd=7" or "fds=7:8:9", for tap and vhost alike */
static void add_fd_list(struct argv *a, const char *prefix, const int *fds, unsigned n,
			const char *nic)
{
	_cleanup_free_ char *list = xstrdup("");
	_cleanup_free_ char *key = xasprintf("%sfd%s", prefix, n > 1 ? "s" : "");

	for (unsigned q = 0; q < n; q++) {
		char fd[96];
		char *longer;

		argv_fd(a, fds ? fds[q] : -1, fd, "TAP-%s-%u", nic, q);
		longer = xasprintf("%s%s%s", list, q ? ":" : "", fd);
		free(list);
		list = longer;
	}
	args_opt(&a->args, key, "%s", list);
}

static void add_netdev(struct argv *a, unsigned i)
{
	const struct plan_nic *nic = &a->plan->nics[i];
	const struct argv_nic_fds *f = a->fds ? &a->fds->nic[i] : NULL;

	args_add(&a->args, "-netdev");
	args_addf(&a->args, "tap,id=host-%s", nic->name);
	add_fd_list(a, "", f ? f->tap : NULL, nic->queues, nic->name);
	/* QEMU 7.2 aborts on vhost=on without the device, so only with descriptors in hand */
	if (f && f->n_vhost) {
		args_opt(&a->args, "vhost", "on");
		add_fd_list(a, "vhost", f->vhost, f->n_vhost, nic->name);
	}
}

static void add_nic(struct argv *a, unsigned i, bool pcie, bool virtio)
{
	const struct plan_nic *nic = &a->plan->nics[i];
	const uint8_t *m = nic->mac;
	struct args *v = &a->args;

	add_netdev(a, i);
	if (pcie)
		argv_pcie_device(a, nic->model);
	else
		argv_pci_device(a, nic->model);
	args_opt(v, "netdev", "host-%s", nic->name);
	args_opt(v, "id", "nic-%s", nic->name);
	args_opt(v, "mac", "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
	if (virtio && nic->mtu)
		args_opt(v, "host_mtu", "%u", nic->mtu);
	if (nic->queues > 1) {
		args_opt(v, "mq", "on");
		/* one for each direction of each queue, one for control, one for configuration */
		args_opt(v, "vectors", "%u", 2 * nic->queues + 2);
	}
	/* KubeVirt takes a NIC's boot ROM away unless it has a place in the boot order */
	if (nic->boot_order)
		args_opt(v, "bootindex", "%u", nic->boot_order);
	else
		args_opt(v, "romfile", "%s", "");
}

int argv_add_nics(struct argv *a, struct err *err)
{
	for (unsigned i = 0; i < a->plan->n_nics; i++) {
		const struct plan_nic *nic = &a->plan->nics[i];
		unsigned m = 0;
		int r;

		while (m < ARRAY_SIZE(models) && !str_eq(models[m].name, nic->model))
			m++;
		if (m == ARRAY_SIZE(models))
			return err_set(err, -EINVAL,
				       "interface '%s': model '%s', want virtio-net-pci, e1000e, "
				       "e1000 or rtl8139",
				       nic->name, nic->model);
		if (nic->queues < 1 || (nic->queues > 1 && !models[m].virtio))
			return err_set(err, -EINVAL, "interface '%s': %u queues, want 1 for %s",
				       nic->name, nic->queues, nic->model);
		r = check_fds(a, i, err);
		if (r < 0)
			return r;
		add_nic(a, i, models[m].pcie, models[m].virtio);
	}
	return 0;
}
