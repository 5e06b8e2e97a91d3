// SPDX-License-Identifier: Apache-2.0
#include "api/plan_make.h"

#include <errno.h>
#include <string.h>

#include "api/meta.h"
#include "api/overhead.h"
#include "api/quantity.h"
#include "api/text.h"
#include "api/vcpumask.h"
#include "lib/cpus.h"
#include "lib/json.h"
#include "lib/mac.h"

#define SHARES_PER_CPU 1024   /* cgroup v1 cpu.shares, as Kubernetes counts them */
#define SHARES_MIN     2      /* the kernel's least */
#define SHARES_MAX     262144 /* the kernel's most */
#define MILLI_PER_VCPU 100    /* KubeVirt's cpuAllocationRatio, 10 */
#define QUOTA_MIN_US   1000   /* the kernel's least for a period of 100 ms */
#define GRACE_SECONDS  30     /* what an absent terminationGracePeriodSeconds counts as */
#define QUEUES_MAX     256    /* the kernel's limit for a tap */

struct maker {
	const json_t *vmi;
	const json_t *spec;
	const struct cluster_config *cfg;
	const struct plan_host *host;
	struct plan *plan;
	plan_network_fn network;
	void *arg;
};

/* Index of `value` in a list of names that ends with NULL; 0 when absent. */
static unsigned choice(const char *value, const char *const *names)
{
	for (unsigned i = 0; value && names[i]; i++) {
		if (!strcmp(names[i], value))
			return i;
	}
	return 0;
}

#define ALLOW_EMULATION                                                                            \
	"say in a KubeVirt object spec.configuration.developerConfiguration.useEmulation: true"

static int make_accel(const struct maker *m, struct err *err)
{
	if (!m->host->kvm && !m->cfg->use_emulation)
		return err_set(err, -EOPNOTSUPP,
			       "KVM does not work on this host (/dev/kvm), and software emulation "
			       "is not allowed: load the kvm module, or " ALLOW_EMULATION);
	m->plan->accel = m->host->kvm ? ACCEL_KVM : ACCEL_TCG;
	return 0;
}

/*
 * KubeVirt's pod asks for devices.kubevirt.io/vhost-net when it has a virtio interface and emulation
 * is not allowed. Where it is, vhost-net is used if it is there, as KVM is.
 */
static int make_vhost(const struct maker *m, struct plan_nic *nic, struct err *err)
{
	if (m->plan->accel != ACCEL_KVM)
		return 0; /* then emulation is allowed */
	if (!m->host->vhost_net && !m->cfg->use_emulation)
		return err_set(err, -EOPNOTSUPP,
			       "interface '%s': virtio needs vhost-net, which this host does not "
			       "have (/dev/vhost-net), and to do without is not allowed: modprobe "
			       "vhost_net, or " ALLOW_EMULATION,
			       nic->name);
	nic->vhost = m->host->vhost_net;
	return 0;
}

static uint64_t milli_cpus(const json_t *spec, const char *path)
{
	const uint64_t max = 1000 * (uint64_t)PLAN_MAX_VCPUS;
	const json_t *value = json_get(spec, path);
	uint64_t milli = 0;

	if (!value)
		return 0;
	/* checked before: what fails is larger than 64 bits */
	return quantity_cpus_milli(value, &milli, NULL) < 0 || milli > max ? max : milli;
}

static void make_realtime(const struct maker *m)
{
	const json_t *realtime = json_get(m->spec, "domain.cpu.realtime");
	char text[CPUS_TEXT_MAX];
	cpu_set_t vcpus;

	if (realtime && vcpumask_parse(json_str(realtime, "mask"), plan_vcpus(m->plan), &vcpus,
				       NULL) == 0) /* validated */
		m->plan->realtime_vcpus = xstrdup(cpus_format(&vcpus, text));
}

static void make_cpu(const struct maker *m)
{
	struct plan *p = m->plan;
	uint64_t request, limit;

	p->cpu_model = xstrdup(json_str(m->spec, "domain.cpu.model"));
	p->sockets = (unsigned)json_u64(m->spec, "domain.cpu.sockets", 1);
	p->cores = (unsigned)json_u64(m->spec, "domain.cpu.cores", 1);
	p->threads = (unsigned)json_u64(m->spec, "domain.cpu.threads", 1);
	p->dedicated_cpus = json_flag(m->spec, "domain.cpu.dedicatedCpuPlacement", false);
	p->isolate_emulator = json_flag(m->spec, "domain.cpu.isolateEmulatorThread", false);
	p->numa_passthrough = json_get(m->spec, "domain.cpu.numa.guestMappingPassthrough");
	make_realtime(m);
	p->exclusivity_kernel =
		str_eq(object_annotation(m->vmi, "virtpod.io/exclusivity"), "kernel");

	request = milli_cpus(m->spec, "domain.resources.requests.cpu");
	limit = milli_cpus(m->spec, "domain.resources.limits.cpu");
	if (p->dedicated_cpus)
		request = 1000 * (uint64_t)(plan_vcpus(p) + p->isolate_emulator);
	else if (request == 0)
		request = MILLI_PER_VCPU * (uint64_t)plan_vcpus(p);
	p->cpu_shares = request * SHARES_PER_CPU / 1000;
	if (p->cpu_shares < SHARES_MIN)
		p->cpu_shares = SHARES_MIN;
	if (p->cpu_shares > SHARES_MAX)
		p->cpu_shares = SHARES_MAX;
	if (!p->dedicated_cpus && limit > 0) {
		p->cpu_quota_us = limit * 100;
		if (p->cpu_quota_us < QUOTA_MIN_US)
			p->cpu_quota_us = QUOTA_MIN_US;
	}
}

static void make_memory(const struct maker *m)
{
	struct plan *p = m->plan;

	p->memory_guest = memory_guest(m->vmi);
	p->memory_overhead = memory_overhead(m->vmi) + memory_locked(m->vmi);
	p->hugepage_size = memory_hugepage(m->vmi);
	p->tcg_tb_size = p->accel == ACCEL_TCG ? memory_tcg(p->memory_guest) : 0;
	p->memory_limit = memory_limit(m->vmi, p->tcg_tb_size);
}

static char *text_at(const json_t *root, const char *path)
{
	const char *text = json_str(root, path);

	return text && *text ? xstrdup(text) : NULL;
}

static void make_firmware(const struct maker *m)
{
	struct plan *p = m->plan;

	p->machine = text_at(m->spec, "domain.machine.type");
	p->acpi = json_flag(m->spec, "domain.features.acpi.enabled", true);
	p->firmware_uuid = text_at(m->spec, "domain.firmware.uuid");
	p->firmware_serial = text_at(m->spec, "domain.firmware.serial");
	p->kernel_image = text_at(m->spec, "domain.firmware.kernelBoot.container.image");
	p->kernel_path = text_at(m->spec, "domain.firmware.kernelBoot.container.kernelPath");
	p->initrd_path = text_at(m->spec, "domain.firmware.kernelBoot.container.initrdPath");
	p->kernel_args = text_at(m->spec, "domain.firmware.kernelBoot.kernelArgs");
}

static void make_devices(const struct maker *m)
{
	static const char *const actions[] = {"", "reset", "poweroff", "shutdown", NULL};
	const json_t *devices = json_get(m->spec, "domain.devices");
	struct plan *p = m->plan;

	p->serial_console = json_flag(devices, "autoattachSerialConsole", true);
	p->serial_log = p->serial_console && json_flag(devices, "logSerialConsole", true);
	p->graphics = json_flag(devices, "autoattachGraphicsDevice", true);
	p->balloon = json_flag(devices, "autoattachMemBalloon", true);
	p->rng = json_get(devices, "rng") != NULL;
	p->watchdog =
		(enum plan_watchdog)choice(json_str(devices, "watchdog.i6300esb.action"), actions);
	p->grace_seconds =
		(uint32_t)json_u64(m->spec, "terminationGracePeriodSeconds", GRACE_SECONDS);
}

static void make_source(struct plan_disk *d, const json_t *volume)
{
	const json_t *host = json_get(volume, "hostDisk");
	const json_t *capacity =
		json_get(volume, host ? "hostDisk.capacity" : "emptyDisk.capacity");
	size_t len;

	d->source = host ? SOURCE_HOST_DISK : SOURCE_EMPTY_DISK;
	d->path = text_at(host, "path");
	d->create = str_eq(json_str(host, "type"), "DiskOrCreate");
	len = d->path ? strlen(d->path) : 0;
	d->format = !host || (len >= 6 && !strcmp(d->path + len - 6, ".qcow2")) ? FORMAT_QCOW2
										: FORMAT_RAW;
	if (capacity)
		(void)quantity_bytes(capacity, &d->capacity, NULL); /* validated */
}

static void make_disk(struct plan_disk *d, const json_t *disk, const json_t *volume)
{
	static const char *const buses[] = {"virtio", "sata", "scsi", NULL};
	static const char *const caches[] = {"", "none", "writethrough", "writeback", NULL};
	static const char *const ios[] = {"", "native", "threads", NULL};
	const json_t *cdrom = json_get(disk, "cdrom");
	const json_t *target = cdrom ? cdrom : json_get(disk, "disk");

	d->name = text_at(disk, "name");
	d->device = cdrom ? DEVICE_CDROM : DEVICE_DISK;
	d->bus = (enum plan_bus)choice(json_str(target, "bus"), buses);
	d->readonly = json_flag(target, "readonly", false);
	d->serial = text_at(disk, "serial");
	d->shareable = json_flag(disk, "shareable", false);
	/* several writers see each other's writes only past the host's page cache */
	d->cache = d->shareable ? CACHE_NONE
				: (enum plan_cache)choice(json_str(disk, "cache"), caches);
	d->io = (enum plan_io)choice(json_str(disk, "io"), ios);
	d->boot_order = (unsigned)json_u64(disk, "bootOrder", 0);
	make_source(d, volume);
}

static int make_disks(const struct maker *m, struct err *err)
{
	const json_t *disks = json_get(m->spec, "domain.devices.disks");
	const json_t *volumes = json_get(m->spec, "volumes");
	const json_t *disk;
	size_t i;

	json_array_foreach (disks, i, disk) {
		const json_t *volume = json_find(volumes, "name", json_str(disk, "name"));

		if (!volume || i == PLAN_MAX_DISKS)
			return err_set(err, -EINVAL, "spec.domain.devices.disks[%zu]: not admitted",
				       i);
		m->plan->n_disks = (unsigned)i + 1;
		make_disk(&m->plan->disks[i], disk, volume);
	}
	return 0;
}

static const char *device_of(const char *model)
{
	static const char *const models[] = {"virtio", "e1000e", "e1000", "rtl8139", NULL};
	static const char *const devices[] = {"virtio-net-pci", "e1000e", "e1000", "rtl8139"};

	return devices[choice(model, models)];
}

static int make_network(const struct maker *m, struct plan_nic *nic, const json_t *net,
			struct err *err)
{
	const char *nad = json_str(net, "multus.networkName");
	_cleanup_(network_done) struct network network = {0};
	int r;

	if (!nad)
		return err_set(err, -EINVAL, "spec.networks: '%s' is not admitted", nic->name);
	nic->network =
		strchr(nad, '/') ? xstrdup(nad) : xasprintf("%s/%s", object_namespace(m->vmi), nad);
	r = m->network(nic->network, &network, m->arg, err);
	if (r < 0) {
		err_prefix(err, "network '%s'", nic->network);
		return r;
	}
	nic->mtu = network.mtu;
	nic->bridge = TAKE_PTR(network.bridge);
	nic->gateway = TAKE_PTR(network.gateway);
	return 0;
}

static int make_nic(const struct maker *m, struct plan_nic *nic, const json_t *iface,
		    struct err *err)
{
	const char *model = json_str(iface, "model"), *mac = json_str(iface, "macAddress");
	bool virtio = !model || !strcmp(model, "virtio");
	unsigned vcpus = plan_vcpus(m->plan);
	int r;

	nic->name = text_at(iface, "name");
	nic->binding = json_get(iface, "bridge") ? BINDING_BRIDGE : BINDING_L2BRIDGE;
	nic->model = xstrdup(device_of(model));
	nic->boot_order = (unsigned)json_u64(iface, "bootOrder", 0);
	nic->queues = 1;
	if (virtio && json_flag(m->spec, "domain.devices.networkInterfaceMultiqueue", false))
		nic->queues = vcpus < QUEUES_MAX ? vcpus : QUEUES_MAX;
	r = virtio ? make_vhost(m, nic, err) : 0;
	if (r < 0)
		return r;
	if (!mac)
		mac_derive(object_namespace(m->vmi), object_name(m->vmi), nic->name, nic->mac);
	else if (mac_parse(mac, nic->mac) < 0)
		return err_set(err, -EINVAL, "interface '%s': MAC address is not admitted",
			       nic->name);
	return make_network(m, nic, json_find(json_get(m->spec, "networks"), "name", nic->name),
			    err);
}

static int make_nics(const struct maker *m, struct err *err)
{
	const json_t *iface;
	size_t i;
	int r;

	json_array_foreach (json_get(m->spec, "domain.devices.interfaces"), i, iface) {
		if (i == PLAN_MAX_NICS)
			return err_set(err, -EINVAL,
				       "spec.domain.devices.interfaces: not admitted");
		m->plan->n_nics = (unsigned)i + 1;
		r = make_nic(m, &m->plan->nics[i], iface, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int make_identity(const struct maker *m, struct err *err)
{
	struct plan *p = m->plan;

	p->namespace = xstrdup(object_namespace(m->vmi));
	p->name = xstrdup(object_name(m->vmi));
	p->uid = xstrdup(object_uid(m->vmi));
	if (!text_ok(p->name, TEXT_NAME))
		return err_set(err, -EINVAL, "metadata.name: is '%.60s', must be a name", p->name);
	if (!text_ok(p->uid, TEXT_UUID))
		return err_set(err, -EINVAL, "metadata.uid: is '%.60s', must be a UUID", p->uid);
	return plan_isolation_parse(object_annotation(m->vmi, "virtpod.io/isolation"),
				    &p->isolation, err);
}

int plan_make(const json_t *vmi, const struct cluster_config *cfg, const struct plan_host *host,
	      plan_network_fn network, void *arg, struct plan **ret, struct err *err)
{
	_cleanup_(plan_freep) struct plan *p = xcalloc(1, sizeof(*p));
	const struct maker m = {vmi, json_get(vmi, "spec"), cfg, host, p, network, arg};
	int r = make_identity(&m, err);

	if (r == 0)
		r = make_accel(&m, err);
	if (r < 0)
		return r;
	make_cpu(&m);
	make_memory(&m);
	make_firmware(&m);
	make_devices(&m);
	r = make_disks(&m, err);
	if (r == 0)
		r = make_nics(&m, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(p);
	return 0;
}
