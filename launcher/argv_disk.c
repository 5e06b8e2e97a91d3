// SPDX-License-Identifier: Apache-2.0
/*
 * Disks: a descriptor set, a file node on it, a format node ("disk0", "disk1", … in the plan's order:
 * the names that QEMU's I/O events carry) and a device. Node options are JSON because only JSON can say
 * "backing": null, which keeps QEMU from following what an image's header says.
 */
#include "launcher/argv_internal.h"

#include <errno.h>
#include <jansson.h>

#define SATA_PORTS 6 /* of the AHCI controller on q35's chipset, and of ich9-ahci */

struct disk {
	const struct plan_disk *plan;
	unsigned index;
	unsigned on_bus;    /* how many disks of the same bus came before */
	unsigned bootindex; /* 0: none */
	bool readonly;
};

static void add_node(struct argv *a, json_t *node)
{
	char *text = node ? json_dumps(node, JSON_COMPACT) : NULL;

	json_decref(node);
	if (!text)
		abort(); /* constants and numbers only: nothing but memory can be missing */
	args_add(&a->args, "-blockdev");
	args_add(&a->args, text);
	free(text);
}

static void add_nodes(struct argv *a, const struct disk *d)
{
	const struct plan_disk *p = d->plan;
	bool direct = p->cache == CACHE_NONE;
	bool discard = !d->readonly && !(a->fds && a->fds->preallocated[d->index]);
	json_t *file, *format;
	char fd[96];

	argv_fd(a, a->fds ? a->fds->disk[d->index] : -1, fd, "DISK-%s", p->name);
	args_add(&a->args, "-add-fd");
	args_addf(&a->args, "fd=%s,set=%u,opaque=disk%u", fd, d->index + 1, d->index);

	/* locking off: the handler holds QEMU's byte-range locks on this very description */
	file = json_pack("{s:s, s:o, s:o, s:s, s:s, s:{s:b, s:b}, s:b, s:b, s:s}", "driver", "file",
			 "node-name", json_sprintf("disk%u-file", d->index), "filename",
			 json_sprintf("/dev/fdset/%u", d->index + 1), "locking", "off", "aio",
			 p->io == IO_NATIVE ? "native" : "threads", "cache", "direct", direct,
			 "no-flush", 0, "read-only", d->readonly, "auto-read-only", 0, "discard",
			 discard ? "unmap" : "ignore");
	add_node(a, file);

	format = json_pack("{s:s, s:o, s:o, s:{s:b, s:b}, s:b, s:s}", "driver",
			   p->format == FORMAT_QCOW2 ? "qcow2" : "raw", "node-name",
			   json_sprintf("disk%u", d->index), "file",
			   json_sprintf("disk%u-file", d->index), "cache", "direct", direct,
			   "no-flush", 0, "read-only", d->readonly, "discard",
			   discard ? "unmap" : "ignore");
	if (format && p->format == FORMAT_QCOW2)
		(void)json_object_set_new(format, "backing", json_null());
	add_node(a, format);
}

static void begin_device(struct argv *a, const struct disk *d)
{
	bool cdrom = d->plan->device == DEVICE_CDROM;
	struct args *v = &a->args;

	if (d->plan->bus == BUS_VIRTIO) {
		argv_pcie_device(a, "virtio-blk-pci");
		return;
	}
	args_add(v, "-device");
	if (d->plan->bus == BUS_SCSI) {
		args_add(v, cdrom ? "scsi-cd" : "scsi-hd");
		args_opt(v, "bus", "scsi0.0");
		args_opt(v, "scsi-id", "%u", d->on_bus);
		return;
	}
	args_add(v, cdrom ? "ide-cd" : "ide-hd");
	if (d->on_bus < SATA_PORTS)
		args_opt(v, "bus", "ide.%u", d->on_bus);
	else
		args_opt(v, "bus", "sata%u.%u", d->on_bus / SATA_PORTS, d->on_bus % SATA_PORTS);
}

static void add_device(struct argv *a, const struct disk *d)
{
	const struct plan_disk *p = d->plan;
	struct args *v = &a->args;

	begin_device(a, d);
	args_opt(v, "drive", "disk%u", d->index);
	/* a disk and a network of one VM may have the same name */
	args_opt(v, "id", "disk-%s", p->name);
	if (p->serial)
		args_opt(v, "serial", "%s", p->serial);
	if (d->bootindex)
		args_opt(v, "bootindex", "%u", d->bootindex);
	if (p->shareable)
		args_opt(v, "share-rw", "on");
	if (p->device == DEVICE_DISK)
		args_opt(v, "write-cache",
			 p->cache == CACHE_NONE || p->cache == CACHE_WRITEBACK ? "on" : "off");
	/* the guest is paused, not told, so that it can go on when there is room again */
	args_opt(v, "werror", "stop");
	args_opt(v, "rerror", "stop");
}

/* A controller in front of the first disk that needs it. */
static void add_controller(struct argv *a, const struct disk *d)
{
	if (d->plan->bus == BUS_SCSI && d->on_bus == 0)
		argv_pcie_device(a, "virtio-scsi-pci,id=scsi0");
	if (d->plan->bus == BUS_SATA && d->on_bus > 0 && d->on_bus % SATA_PORTS == 0) {
		_cleanup_free_ char *ahci =
			xasprintf("ich9-ahci,id=sata%u", d->on_bus / SATA_PORTS);

		argv_pci_device(a, ahci);
	}
}

static int check_disk(const struct argv *a, const struct disk *d, struct err *err)
{
	const struct plan_disk *p = d->plan;

	if (a->fds && a->fds->disk[d->index] < 0)
		return err_set(err, -EINVAL, "disk '%s': no descriptor", p->name);
	if (p->bus == BUS_VIRTIO && p->device == DEVICE_CDROM)
		return err_set(err, -EINVAL, "disk '%s': a CD-ROM on bus virtio, want sata or scsi",
			       p->name);
	if (p->bus == BUS_SATA && p->device == DEVICE_DISK && d->readonly)
		return err_set(
			err, -EINVAL,
			"disk '%s': QEMU has no read-only SATA disk, want bus virtio or scsi",
			p->name);
	if (p->io == IO_NATIVE && p->cache != CACHE_NONE)
		return err_set(err, -EINVAL, "disk '%s': io native needs cache none", p->name);
	return 0;
}

/* The disk that is booted from when nothing has a boot order: the first one, or the first CD-ROM. */
static unsigned default_boot_disk(const struct plan *p)
{
	for (unsigned i = 0; i < p->n_disks; i++)
		if (p->disks[i].device == DEVICE_DISK)
			return i;
	return 0;
}

int argv_add_disks(struct argv *a, struct err *err)
{
	bool given = argv_boot_order_given(a->plan);
	unsigned first = default_boot_disk(a->plan);
	unsigned on_bus[3] = {0};

	for (unsigned i = 0; i < a->plan->n_disks; i++) {
		const struct plan_disk *p = &a->plan->disks[i];
		struct disk d = {.plan = p,
				 .index = i,
				 .on_bus = on_bus[p->bus]++,
				 .bootindex = given ? p->boot_order : i == first,
				 .readonly = p->readonly || p->device == DEVICE_CDROM};
		int r = check_disk(a, &d, err);

		if (r < 0)
			return r;
		add_controller(a, &d);
		add_nodes(a, &d);
		add_device(a, &d);
	}
	return 0;
}
