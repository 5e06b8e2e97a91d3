// SPDX-License-Identifier: Apache-2.0
#include "api/default.h"

#include <stdio.h>
#include <string.h>

#include "api/meta.h"
#include "api/plan.h"
#include "api/quantity.h"
#include "api/uuid.h"
#include "lib/json.h"

/* KubeVirt's own name space for firmware UUIDs (pkg/virt-controller/watch/vm). */
static const uint8_t firmware_ns[16] = {0x6a, 0x1a, 0x24, 0xa1, 0x40, 0x61, 0x46, 0x07,
					0x8b, 0xf4, 0xa3, 0x96, 0x3d, 0x0c, 0x58, 0x95};

#define HOTPLUG_RATIO 4 /* maxSockets and maxGuest: KubeVirt's default maxHotplugRatio */

void firmware_uuid(const char *vm_name, char *buf)
{
	(void)uuid_from_name(firmware_ns, vm_name, buf);
}

void object_drop_nulls(json_t *obj)
{
	json_t *value;
	const char *key;
	void *next;

	json_object_foreach_safe (obj, next, key, value) {
		if (json_is_null(value))
			(void)json_object_del(obj, key);
		else
			object_drop_nulls(value);
	}
	for (size_t i = json_array_size(obj); i > 0; i--) {
		value = json_array_get(obj, i - 1);
		if (json_is_null(value))
			(void)json_array_remove(obj, i - 1);
		else
			object_drop_nulls(value);
	}
}

/* The object at `path`, made when absent. */
static json_t *child(json_t *root, const char *path)
{
	json_t *ret = json_get(root, path);

	if (ret)
		return ret;
	(void)json_path_set(root, path, json_object());
	return json_get(root, path);
}

static void set_text(json_t *root, const char *path, const char *value)
{
	const char *there = json_str(root, path);

	if (!there || !*there)
		(void)json_path_set(root, path, json_string(value));
}

/* Kubernetes stores quantities in one spelling: 0.5 as 500m. */
static void canonical(json_t *parent, const char *key)
{
	const json_t *value = json_object_get(parent, key);
	char text[QUANTITY_TEXT_MAX];
	struct quantity q;

	if (value && quantity_from_json(value, &q, NULL) == 0)
		(void)json_object_set_new(parent, key, json_string(quantity_canonical(&q, text)));
}

static void canonical_all(json_t *map)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe (map, next, key, value) {
		canonical(map, key);
	}
}

static void default_quantities(json_t *spec)
{
	json_t *volume;
	size_t i;

	canonical_all(json_get(spec, "domain.resources.requests"));
	canonical_all(json_get(spec, "domain.resources.limits"));
	canonical(json_get(spec, "domain.memory"), "guest");
	canonical(json_get(spec, "domain.memory"), "maxGuest");
	json_array_foreach (json_get(spec, "volumes"), i, volume) {
		canonical(json_get(volume, "hostDisk"), "capacity");
		canonical(json_get(volume, "emptyDisk"), "capacity");
	}
}

static void copy_to(json_t *root, const char *path, json_t *value)
{
	if (value && !json_get(root, path))
		(void)json_path_set(root, path, json_copy(value));
}

static void default_memory(json_t *spec)
{
	(void)child(spec, "domain.memory");
	copy_to(spec, "domain.memory.guest", json_get(spec, "domain.resources.requests.memory"));
	copy_to(spec, "domain.memory.guest", json_get(spec, "domain.resources.limits.memory"));
	copy_to(spec, "domain.memory.guest", json_get(spec, "domain.memory.hugepages.pageSize"));
}

/* Sockets from a CPU quantity, rounded up as KubeVirt does; a negative one wraps there, not here. */
static json_int_t sockets_of(const json_t *cpus)
{
	struct quantity q;
	int64_t n;

	if (!cpus || quantity_from_json(cpus, &q, NULL) < 0 || quantity_sign(&q) <= 0)
		return 0;
	/* more than any number of sockets is refused where they are checked */
	return quantity_value(&q, &n) < 0 || n > UINT32_MAX ? UINT32_MAX : n;
}

static void default_cpu(json_t *spec)
{
	json_t *cpu = child(spec, "domain.cpu");
	json_int_t sockets;

	copy_to(spec, "domain.resources.requests.cpu",
		json_get(spec, "domain.resources.limits.cpu"));
	if (!json_get(cpu, "cores") && !json_get(cpu, "sockets") && !json_get(cpu, "threads")) {
		sockets = sockets_of(json_get(spec, "domain.resources.limits.cpu"));
		if (sockets == 0)
			sockets = sockets_of(json_get(spec, "domain.resources.requests.cpu"));
		(void)json_object_set_new(cpu, "sockets", json_integer(sockets ? sockets : 1));
		(void)json_object_set_new(cpu, "cores", json_integer(1));
		(void)json_object_set_new(cpu, "threads", json_integer(1));
	}
	set_text(cpu, "model", "host-model");
}

static void default_max_sockets(json_t *cpu)
{
	json_int_t sockets = json_integer_value(json_object_get(cpu, "sockets"));
	json_int_t per_socket = json_integer_value(json_object_get(cpu, "cores")) *
				json_integer_value(json_object_get(cpu, "threads"));
	json_int_t max = sockets * HOTPLUG_RATIO;

	if (sockets == 0 || json_object_get(cpu, "maxSockets"))
		return;
	/* a product of 0 (cores or threads left out) is never capped, there as here */
	if (max * per_socket > PLAN_MAX_VCPUS)
		max = PLAN_MAX_VCPUS / per_socket;
	if (max < sockets)
		max = sockets;
	(void)json_object_set_new(cpu, "maxSockets", json_integer(max));
}

/* Memory is added in steps of 2 MiB, or of the page where pages are larger. */
static int64_t hotplug_step(const json_t *spec)
{
	const json_t *page = json_get(spec, "domain.memory.hugepages.pageSize");
	struct quantity q;
	int64_t bytes;

	if (!page || quantity_from_json(page, &q, NULL) < 0 || quantity_value(&q, &bytes) < 0 ||
	    bytes != 1 << 30)
		return 2 << 20;
	return bytes;
}

/* Four times the guest's memory, where memory hotplug can be had: from 1 GiB on, in whole steps. */
static void default_max_guest(json_t *spec)
{
	const json_t *guest = json_get(spec, "domain.memory.guest");
	const json_t *cpu = json_get(spec, "domain.cpu");
	char text[QUANTITY_TEXT_MAX];
	struct quantity q;
	int64_t bytes;

	if (!guest || json_get(spec, "domain.memory.maxGuest") || json_get(cpu, "realtime") ||
	    json_get(cpu, "numa.guestMappingPassthrough") ||
	    json_get(spec, "domain.launchSecurity") ||
	    !str_eq(json_str(spec, "architecture"), "amd64"))
		return;
	if (quantity_from_json(guest, &q, NULL) < 0 || quantity_value(&q, &bytes) < 0 ||
	    bytes < 1 << 30 || bytes % hotplug_step(spec) != 0)
		return;
	q.magnitude *= HOTPLUG_RATIO;
	for (; q.magnitude % 10 == 0; q.exponent++)
		q.magnitude /= 10;
	q.kept[0] = '\0';
	(void)json_path_set(spec, "domain.memory.maxGuest",
			    json_string(quantity_recompute(&q, text)));
}

/* A volume that nothing shows to the guest gets a disk of its name. */
static void default_volume_disks(json_t *spec)
{
	const json_t *volume;
	size_t i;

	json_array_foreach (json_get(spec, "volumes"), i, volume) {
		const char *name = json_str(volume, "name");
		json_t *disks = json_get(spec, "domain.devices.disks");

		if (!name || json_find(disks, "name", name) ||
		    json_find(json_get(spec, "domain.devices.filesystems"), "name", name))
			continue;
		if (!disks)
			(void)json_path_set(spec, "domain.devices.disks", json_array());
		(void)json_array_append_new(json_get(spec, "domain.devices.disks"),
					    json_pack("{s:s}", "name", name));
	}
}

static void default_disks(json_t *spec)
{
	json_t *disk;
	size_t i;

	default_volume_disks(spec);
	json_array_foreach (json_get(spec, "domain.devices.disks"), i, disk) {
		json_t *cdrom = json_object_get(disk, "cdrom");
		json_t *lun = json_object_get(disk, "lun");

		if (!cdrom && !lun)
			set_text(child(disk, "disk"), "bus", "sata");
		if (json_object_get(disk, "disk"))
			set_text(json_object_get(disk, "disk"), "bus", "sata");
		if (lun)
			set_text(lun, "bus", "sata");
		if (!cdrom)
			continue;
		set_text(cdrom, "bus", "sata");
		set_text(cdrom, "tray", "closed");
		if (!json_object_get(cdrom, "readonly"))
			(void)json_object_set_new(cdrom, "readonly", json_true());
	}
}

static void default_networks(json_t *spec)
{
	if (json_array_size(json_get(spec, "networks")) > 0 ||
	    json_array_size(json_get(spec, "domain.devices.interfaces")) > 0 ||
	    !json_flag(spec, "domain.devices.autoattachPodInterface", true))
		return;
	(void)json_path_set(spec, "networks", json_pack("[{s:s, s:{}}]", "name", "default", "pod"));
	(void)json_path_set(spec, "domain.devices.interfaces",
			    json_pack("[{s:s, s:{}}]", "name", "default", "bridge"));
}

static void default_devices(json_t *spec)
{
	json_t *watchdog;

	(void)child(spec, "domain.devices");
	default_disks(spec);
	default_networks(spec);
	watchdog = json_get(spec, "domain.devices.watchdog");
	if (watchdog && !json_object_get(watchdog, "diag288"))
		set_text(watchdog, "i6300esb.action", "reset");
}

/* What VMs' templates and VMIs have in common. */
static void default_common(json_t *spec)
{
	set_text(spec, "architecture", "amd64");
	set_text(spec, "domain.machine.type", "q35");
	(void)child(spec, "domain.resources");
	(void)child(spec, "domain.devices");
	default_quantities(spec);
}

static void default_status(json_t *vmi)
{
	const json_t *cpu = json_get(vmi, "spec.domain.cpu");
	json_t *guest = json_get(vmi, "spec.domain.memory.guest");
	static const char *const counts[] = {"cores", "sockets", "threads"};
	json_t *status = json_pack("{s:s, s:{}, s:{}}", "phase", "Pending", "guestOSInfo",
				   "currentCPUTopology");

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		json_t *n = json_object_get(cpu, counts[i]);

		if (n)
			(void)json_object_set(json_get(status, "currentCPUTopology"), counts[i], n);
	}
	if (guest)
		(void)json_object_set_new(status, "memory",
					  json_pack("{s:O, s:O, s:O}", "guestAtBoot", guest,
						    "guestCurrent", guest, "guestRequested",
						    guest));
	(void)json_object_set_new(vmi, "status", status);
}

static void default_metadata(json_t *vmi)
{
	static const char finalizer[] = "kubevirt.io/foregroundDeleteVirtualMachine";
	json_t *list = json_get(vmi, "metadata.finalizers");
	const json_t *item;
	size_t i;

	set_text(vmi, "metadata.annotations[kubevirt.io/pci-topology-version]", "v3");
	json_array_foreach (list, i, item) {
		if (str_eq(json_string_value(item), finalizer))
			return;
	}
	if (!list)
		(void)json_path_set(vmi, "metadata.finalizers", json_array());
	(void)json_array_append_new(json_get(vmi, "metadata.finalizers"), json_string(finalizer));
}

void vmi_default(json_t *vmi)
{
	json_t *spec = child(vmi, "spec");
	char uuid[UUID_TEXT];

	default_common(spec);
	default_memory(spec);
	default_cpu(spec);
	default_max_sockets(json_get(spec, "domain.cpu"));
	default_max_guest(spec);
	default_devices(spec);
	set_text(spec, "evictionStrategy", "None");
	firmware_uuid(object_name(vmi), uuid);
	set_text(spec, "domain.firmware.uuid", uuid);
	if (!json_get(child(spec, "domain.features.acpi"), "enabled"))
		(void)json_path_set(spec, "domain.features.acpi.enabled", json_true());
	default_metadata(vmi);
	default_status(vmi);
}

void vm_default(json_t *vm)
{
	json_t *template = json_get(vm, "spec.template");
	char uuid[UUID_TEXT];

	if (!template)
		return; /* the rules say so */
	default_common(child(template, "spec"));
	firmware_uuid(object_name(vm), uuid);
	set_text(template, "spec.domain.firmware.uuid", uuid);
	set_text(template, "spec.domain.firmware.serial", uuid);
	set_text(template, "metadata.annotations[kubevirt.io/pci-topology-version]", "v3");
	(void)json_object_set_new(vm, "status", json_object());
}
