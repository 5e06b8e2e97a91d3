// SPDX-License-Identifier: Apache-2.0
/* Disks, the volumes behind them, and the boot order that disks share with interfaces. */
#include <string.h>

#include "api/check.h"
#include "api/names.h"
#include "api/plan.h"
#include "api/quantity.h"
#include "api/schema.h"
#include "api/text.h"
#include "lib/json.h"

static bool one_of(const char *value, const char *const *list)
{
	for (; *list; list++) {
		if (!strcmp(*list, value))
			return true;
	}
	return false;
}

/* Names of one list: there, well-formed, each once. */
static void check_names(const struct check *c, const char *list)
{
	const json_t *items = json_get(c->spec, list), *item;
	size_t i;

	json_array_foreach (items, i, item) {
		const char *name = json_str(item, "name");
		struct err err = {0};

		if (!name) {
			check_item(c, CAUSE_REQUIRED, list, i, "name", "is missing");
			continue;
		}
		if (name_dns1123_label(name, &err) < 0)
			check_item(c, CAUSE_INVALID, list, i, "name", "%s", err.msg);
		for (size_t k = 0; k < i; k++) {
			if (str_eq(json_str(json_array_get(items, k), "name"), name)) {
				check_item(c, CAUSE_INVALID, list, i, "name",
					   "'%.63s' is the name of %s[%zu] already", name, list, k);
				break;
			}
		}
	}
}

static void check_target(const struct check *c, size_t i, const json_t *disk)
{
	static const char *const buses[] = {"virtio", "sata", "scsi", "usb", NULL};
	static const char *const types[] = {"disk", "cdrom", "lun"};
	const char *bus, *tray = json_str(disk, "cdrom.tray");

	for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
		_cleanup_free_ char *field = xasprintf("%s.bus", types[t]);

		bus = json_str(disk, field);
		if (!bus)
			continue;
		if (!strcmp(bus, "ide"))
			check_item(c, CAUSE_INVALID, DISKS, i, field,
				   "ide is not there: use sata, virtio or scsi");
		else if (!one_of(bus, buses))
			check_item(c, CAUSE_NOT_SUPPORTED, DISKS, i, field,
				   "is '%.60s', must be virtio, sata or scsi", bus);
		else if (!strcmp(bus, "usb"))
			check_item(c, CAUSE_NOT_SUPPORTED, DISKS, i, field, "usb " NOT_YET);
		else if (t == 1 && !strcmp(bus, "virtio"))
			check_item(c, CAUSE_INVALID, DISKS, i, field,
				   "virtio has no CD-ROMs: use sata or scsi");
	}
	if (str_eq(json_str(disk, "disk.bus"), "sata") && json_flag(disk, "disk.readonly", false))
		check_item(c, CAUSE_INVALID, DISKS, i, "disk.readonly",
			   "is not possible on sata: use virtio, scsi, or a cdrom");
	if (json_get(disk, "cdrom.readonly") && !json_flag(disk, "cdrom.readonly", true))
		check_item(c, CAUSE_NOT_SUPPORTED, DISKS, i, "cdrom.readonly",
			   "false " NOT_YET ": CD-ROMs are read-only");
	if (tray && strcmp(tray, "closed") != 0)
		check_item(c, CAUSE_NOT_SUPPORTED, DISKS, i, "cdrom.tray",
			   "'%.60s' " NOT_YET ": leave it out, or say closed", tray);
}

static void check_serial(const struct check *c, size_t i, const char *serial)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_.+-";

	if (serial[strspn(serial, allowed)])
		check_item(c, CAUSE_INVALID, DISKS, i, "serial",
			   "is '%.60s', must be of letters, digits, '_', '.', '+' and '-'", serial);
	if (strlen(serial) > 256)
		check_item(c, CAUSE_INVALID, DISKS, i, "serial",
			   "is %zu characters long, must be at most 256", strlen(serial));
}

static void check_modes(const struct check *c, size_t i, const json_t *disk)
{
	static const char *const caches[] = {"none", "writethrough", "writeback", NULL};
	const char *cache = json_str(disk, "cache"), *io = json_str(disk, "io");
	bool shareable = json_flag(disk, "shareable", false);

	if (cache && !one_of(cache, caches))
		check_item(c, CAUSE_INVALID, DISKS, i, "cache",
			   "is '%.60s', must be none, writethrough or writeback", cache);
	else if (cache && shareable && strcmp(cache, "none") != 0)
		check_item(c, CAUSE_INVALID, DISKS, i, "cache",
			   "is %s, must be none on a shareable disk", cache);
	if (io && strcmp(io, "native") != 0 && strcmp(io, "threads") != 0)
		check_item(c, CAUSE_NOT_SUPPORTED, DISKS, i, "io",
			   "is '%.60s', must be native or threads", io);
	else if (io && !strcmp(io, "native") && !str_eq(cache, "none") && !shareable)
		check_item(c, CAUSE_INVALID, DISKS, i, "io",
			   "is native, which QEMU does with cache: none only: say that, too");
}

static void check_disk(const struct check *c, size_t i, const json_t *disk)
{
	int targets =
		!!json_get(disk, "disk") + !!json_get(disk, "cdrom") + !!json_get(disk, "lun");
	const char *name = json_str(disk, "name"), *serial = json_str(disk, "serial");

	if (targets > 1)
		check_item(c, CAUSE_INVALID, DISKS, i, "",
			   "is %d devices in one, must be one of disk, cdrom, lun", targets);
	if (name && !json_find(json_get(c->spec, "volumes"), "name", name))
		check_item(c, CAUSE_INVALID, DISKS, i, "name",
			   "'%.63s' is not the name of a volume: add it to volumes", name);
	check_target(c, i, disk);
	if (serial)
		check_serial(c, i, serial);
	check_modes(c, i, disk);
}

/* Disks and interfaces are in one order. */
static void check_boot_order(const struct check *c)
{
	static const char *const lists[] = {DISKS, INTERFACES};
	json_int_t seen[PLAN_MAX_DISKS + PLAN_MAX_NICS];
	size_t n = 0, i;
	const json_t *item;

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
		json_array_foreach (json_get(c->spec, lists[l]), i, item) {
			const json_t *order = json_get(item, "bootOrder");

			if (!json_is_integer(order) || n == ARRAY_SIZE(seen))
				continue;
			seen[n] = json_integer_value(order);
			for (size_t k = 0; k < n; k++) {
				if (seen[k] != seen[n])
					continue;
				check_item(c, CAUSE_INVALID, lists[l], i, "bootOrder",
					   "%" JSON_INTEGER_FORMAT
					   " is another device's already: give each its own",
					   seen[n]);
				break;
			}
			n++;
		}
	}
}

/* KubeVirt's own output writes an absent capacity as "0". */
static bool is_given(const json_t *capacity)
{
	struct quantity q;

	return capacity && quantity_from_json(capacity, &q, NULL) == 0 && quantity_sign(&q) != 0;
}

static void check_capacity(const struct check *c, size_t i, const json_t *volume, const char *field)
{
	const json_t *value = json_get(volume, field);
	struct quantity q;
	int64_t bytes;

	if (!value || quantity_from_json(value, &q, NULL) < 0)
		return;
	if (quantity_sign(&q) < 0 || quantity_value(&q, &bytes) < 0 || bytes > INT64_C(1) << 52)
		check_item(c, CAUSE_INVALID, "volumes", i, field,
			   "is '%.60s', must not be negative, and at most 4 PiB",
			   json_string_value(value));
}

static void check_host_disk(const struct check *c, size_t i, const json_t *volume)
{
	const char *path = json_str(volume, "hostDisk.path");
	const char *type = json_str(volume, "hostDisk.type");
	const json_t *capacity = json_get(volume, "hostDisk.capacity");

	if (!path || !*path)
		check_item(c, CAUSE_NOT_FOUND, "volumes", i, "hostDisk.path",
			   "is missing: say where the image is");
	else if (!text_ok(path, TEXT_PATH))
		check_item(c, CAUSE_INVALID, "volumes", i, "hostDisk.path",
			   "is '%.200s', must be an absolute path of printable characters, without "
			   "'..'",
			   path);
	if (!type || !*type)
		check_item(c, CAUSE_INVALID, "volumes", i, "hostDisk.type",
			   "is missing: say Disk or DiskOrCreate");
	else if (strcmp(type, "Disk") != 0 && strcmp(type, "DiskOrCreate") != 0)
		check_item(c, CAUSE_INVALID, "volumes", i, "hostDisk.type",
			   "is '%.60s', must be Disk or DiskOrCreate", type);
	else if (is_given(capacity) && !strcmp(type, "Disk"))
		check_item(c, CAUSE_INVALID, "volumes", i, "hostDisk.capacity",
			   "goes with type DiskOrCreate only: a Disk has the image's size");
	check_capacity(c, i, volume, "hostDisk.capacity");
}

/* One image in two disks: QEMU's own lock would refuse the second one at start. */
static void check_twice(const struct check *c, size_t i, const char *path)
{
	const json_t *volumes = json_get(c->spec, "volumes");

	for (size_t k = 0; path && k < i; k++) {
		if (str_eq(json_str(json_array_get(volumes, k), "hostDisk.path"), path))
			check_item(c, CAUSE_DUPLICATE, "volumes", i, "hostDisk.path",
				   "is the image of volumes[%zu], too: give each its own", k);
	}
}

static void check_volume(const struct check *c, size_t i, const json_t *volume)
{
	size_t sources = json_object_size(volume) - !!json_get(volume, "name");

	if (sources != 1)
		check_item(c, CAUSE_INVALID, "volumes", i, "",
			   "has %zu sources, must have exactly one, such as hostDisk or emptyDisk",
			   sources);
	if (json_get(volume, "hostDisk"))
		check_host_disk(c, i, volume);
	check_twice(c, i, json_str(volume, "hostDisk.path"));
	if (!json_get(volume, "emptyDisk"))
		return;
	if (!is_given(json_get(volume, "emptyDisk.capacity")))
		check_item(c, CAUSE_REQUIRED, "volumes", i, "emptyDisk.capacity",
			   "is missing: say how large the disk is, such as 2Gi");
	check_capacity(c, i, volume, "emptyDisk.capacity");
}

void check_disks(const struct check *c)
{
	const json_t *disks = json_get(c->spec, DISKS), *item;
	size_t i;

	check_names(c, DISKS);
	check_names(c, "volumes");
	json_array_foreach (disks, i, item) {
		check_disk(c, i, item);
	}
	json_array_foreach (json_get(c->spec, "volumes"), i, item) {
		check_volume(c, i, item);
	}
	check_boot_order(c);
}
