// SPDX-License-Identifier: Apache-2.0
/*
 * The plan: what one VM needs, resolved once from its VMI, the cluster's configuration and the
 * networks it names, as one plain struct. The handler acts on it, the launcher turns it into QEMU's
 * argv, `virtpod render` prints it. Everything in it is validated: sizes are exact bytes, counts
 * are bounded by the limits below.
 */
#pragma once

#include "lib/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define PLAN_MAX_VCPUS 512 /* KubeVirt's own cap (pkg/defaults) */
#define PLAN_MAX_DISKS 32
#define PLAN_MAX_NICS  8
#define PLAN_MAX_CELLS 64 /* host nodes that one guest is spread over; QEMU's own limit is 128 */
#define PLAN_MAX_NAME  64 /* a DNS-1123 label with its NUL */

enum plan_accel { ACCEL_KVM, ACCEL_TCG };
enum plan_bus { BUS_VIRTIO, BUS_SATA, BUS_SCSI };
enum plan_device { DEVICE_DISK, DEVICE_CDROM };
enum plan_source { SOURCE_HOST_DISK, SOURCE_EMPTY_DISK };
enum plan_format { FORMAT_RAW, FORMAT_QCOW2 };
enum plan_cache { CACHE_DEFAULT, CACHE_NONE, CACHE_WRITETHROUGH, CACHE_WRITEBACK };
enum plan_io { IO_DEFAULT, IO_NATIVE, IO_THREADS };
enum plan_binding { BINDING_L2BRIDGE, BINDING_BRIDGE };
enum plan_watchdog { WATCHDOG_NONE, WATCHDOG_RESET, WATCHDOG_POWEROFF, WATCHDOG_SHUTDOWN };
enum plan_seccomp { SECCOMP_ENFORCE, SECCOMP_AUDIT, SECCOMP_OFF };

struct plan_disk {
	char *name; /* spec.volumes[].name: a DNS label */
	enum plan_device device;
	enum plan_bus bus;
	enum plan_source source;
	/* told to QEMU, never probed. hostDisk: qcow2 by suffix, else raw; emptyDisk: qcow2 */
	enum plan_format format;
	char *path;	   /* hostDisk.path, absolute; NULL for an emptyDisk */
	bool create;	   /* hostDisk.type DiskOrCreate */
	uint64_t capacity; /* bytes; 0: what the image has */
	char *serial;	   /* or NULL */
	bool readonly;
	bool shareable;
	enum plan_cache cache;
	enum plan_io io;
	unsigned boot_order; /* 0: none given */
};

struct plan_nic {
	char *name;    /* spec.networks[].name */
	char *network; /* "namespace/name" of the NetworkAttachmentDefinition */
	enum plan_binding binding;
	char *model;	 /* QEMU device name: virtio-net-pci, e1000e, e1000, rtl8139 */
	uint8_t mac[6];	 /* the guest's; given or derived, never zero */
	unsigned mtu;	 /* bytes, for bridge, tap and virtio device */
	unsigned queues; /* 1..256; more than 1 only for virtio */
	bool vhost;	 /* the kernel moves its frames: one /dev/vhost-net per queue */
	char *bridge;	 /* NAD's "bridge": host bridge wanted, or NULL: ours to name */
	char *gateway;	 /* CIDR that the host bridge carries (isGateway), or NULL */
	unsigned boot_order;
};

/*
 * A piece of guest memory and where it lies; with numa_passthrough it is a NUMA node of the guest, else
 * it is the only one. Lists as the kernel writes them ("0-3,7").
 */
struct plan_cell {
	char *host_nodes;		  /* nodes of the host whose memory it is */
	char *vcpus;			  /* vCPUs of the guest that run there */
	uint64_t memory;		  /* bytes */
	uint8_t distance[PLAN_MAX_CELLS]; /* to each cell: 10 to itself, 11..254 to others */
};

/* Which layers of the boundary are in force: all, unless annotation virtpod.io/isolation says. */
struct plan_isolation {
	bool user, pid, mount, net, ipc, uts, cgroup; /* namespaces */
	bool devices;				      /* cgroup device allowlist */
	bool capabilities;			      /* all five sets emptied */
	bool no_new_privs;
	bool dumpable_off;
	bool limits; /* memory and pids */
	enum plan_seccomp seccomp;
};

struct plan {
	char *namespace;
	char *name;
	char *uid; /* the VMI's, a UUID */

	enum plan_accel accel;
	char *machine;	 /* "q35" or "pc-q35-…" */
	char *cpu_model; /* KubeVirt's name: host-passthrough, host-model or a model of QEMU's */
	unsigned sockets, cores, threads;
	bool dedicated_cpus;
	bool isolate_emulator;
	bool exclusivity_kernel; /* virtpod.io/exclusivity: kernel */
	uint64_t cpu_shares;	 /* v1 cpu.shares, of requests.cpu or 100m per vCPU */
	uint64_t cpu_quota_us;	 /* per 100 ms; limits.cpu without dedicated CPUs; 0: none */

	uint64_t memory_guest;	  /* bytes */
	uint64_t memory_overhead; /* bytes, KubeVirt's formula (docs/memory.md) */
	uint64_t memory_limit;	  /* bytes, the pod's memory.max */
	uint64_t tcg_tb_size;	  /* bytes of TCG's translation buffer; 0 under KVM */
	uint64_t hugepage_size;	  /* bytes of a page of guest memory; 0: the kernel's usual */
	bool numa_passthrough;	  /* the guest sees the host nodes that its CPUs are on */
	char *realtime_vcpus;	  /* list of the vCPUs that run SCHED_FIFO, or NULL */

	/* known once the VM has its CPUs (handler/placement.h); without dedicated CPUs neither is set */
	char *memory_nodes; /* host nodes that the pod may have memory of, or NULL: all */
	struct plan_cell cells[PLAN_MAX_CELLS];
	unsigned n_cells; /* 0: guest memory is wherever the kernel puts it */

	char *firmware_uuid;
	char *firmware_serial; /* or NULL */
	char *kernel_image;    /* kernelBoot.container.image, or NULL: boot from disks */
	char *kernel_path;     /* inside the image, absolute; NULL when there is none */
	char *initrd_path;
	char *kernel_args;

	bool serial_console; /* autoattachSerialConsole */
	bool serial_log;     /* logSerialConsole */
	bool graphics;	     /* autoattachGraphicsDevice */
	bool balloon;	     /* autoattachMemBalloon */
	bool rng;
	enum plan_watchdog watchdog;
	bool acpi;

	uint32_t grace_seconds; /* terminationGracePeriodSeconds, 30 when not given */
	struct plan_isolation isolation;

	struct plan_disk disks[PLAN_MAX_DISKS];
	unsigned n_disks;
	struct plan_nic nics[PLAN_MAX_NICS];
	unsigned n_nics;
};

static inline unsigned plan_vcpus(const struct plan *p)
{
	return p->sockets * p->cores * p->threads;
}

static inline bool plan_hugepage_known(uint64_t bytes)
{
	return bytes == (uint64_t)2 << 20 || bytes == (uint64_t)1 << 30;
}

void plan_free(struct plan *p); /* NULL is fine */
static inline void plan_freep(struct plan **p)
{
	plan_free(*p);
}

/* The plan as JSON and back. Decoding checks every bound: the launcher trusts nothing unbounded. */
json_t *plan_to_json(const struct plan *p);
int plan_from_json(const json_t *json, struct plan **ret, struct err *err);

/*
 * A plan that another version may have written, to look at and not to start by: a member that is not
 * known is ignored, one that is missing is zero. vCPUs there must be, and no more than PLAN_MAX_VCPUS.
 */
int plan_from_record(const json_t *json, struct plan **ret, struct err *err);
