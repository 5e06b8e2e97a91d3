// SPDX-License-Identifier: Apache-2.0
/*
 * The plan as JSON and back, both from one table per struct. The decoder is the launcher's and the
 * handler's gate for it: each member must be there, of its type, within its bounds, and no other.
 */
#include "api/plan_check.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "api/text.h"
#include "lib/json.h"
#include "lib/mac.h"

enum member_type { M_TEXT, M_BOOL, M_UINT, M_U64, M_ENUM, M_MAC };

/*
 * One member: where it is, its type and bounds. Numbers: min..max. Text: `kind`, and with min = 0 it
 * may be null. Enums: `names` with max entries.
 */
struct member {
	const char *key;
	size_t offset;
	enum member_type type;
	enum text_kind kind;
	uint64_t min, max;
	const char *const *names;
};

static const char *const accel_names[] = {"kvm", "tcg"};
static const char *const bus_names[] = {"virtio", "sata", "scsi"};
static const char *const device_names[] = {"disk", "cdrom"};
static const char *const source_names[] = {"hostDisk", "emptyDisk"};
static const char *const format_names[] = {"raw", "qcow2"};
static const char *const cache_names[] = {"default", "none", "writethrough", "writeback"};
static const char *const io_names[] = {"default", "native", "threads"};
static const char *const binding_names[] = {"l2bridge", "bridge"};
static const char *const watchdog_names[] = {"none", "reset", "poweroff", "shutdown"};
static const char *const seccomp_names[] = {"enforce", "audit", "off"};

#define TEXT(s, k, f, knd)                                                                         \
	{                                                                                          \
		k, offsetof(struct s, f), M_TEXT, knd, 1, 0, NULL                                  \
	}
#define TEXT_OPT(s, k, f, knd)                                                                     \
	{                                                                                          \
		k, offsetof(struct s, f), M_TEXT, knd, 0, 0, NULL                                  \
	}
#define BOOL(s, k, f)                                                                              \
	{                                                                                          \
		k, offsetof(struct s, f), M_BOOL, 0, 0, 0, NULL                                    \
	}
#define UINT(s, k, f, lo, hi)                                                                      \
	{                                                                                          \
		k, offsetof(struct s, f), M_UINT, 0, lo, hi, NULL                                  \
	}
#define U64(s, k, f, lo, hi)                                                                       \
	{                                                                                          \
		k, offsetof(struct s, f), M_U64, 0, lo, hi, NULL                                   \
	}
#define ENUM(s, k, f, n)                                                                           \
	{                                                                                          \
		k, offsetof(struct s, f), M_ENUM, 0, 0, ARRAY_SIZE(n), n                           \
	}

static const struct member plan_members[] = {
	TEXT(plan, "namespace", namespace, TEXT_LABEL),
	TEXT(plan, "name", name, TEXT_NAME),
	TEXT(plan, "uid", uid, TEXT_UUID),
	ENUM(plan, "accel", accel, accel_names),
	TEXT(plan, "machine", machine, TEXT_NAME),
	TEXT(plan, "cpuModel", cpu_model, TEXT_NAME),
	UINT(plan, "sockets", sockets, 1, PLAN_MAX_VCPUS),
	UINT(plan, "cores", cores, 1, PLAN_MAX_VCPUS),
	UINT(plan, "threads", threads, 1, PLAN_MAX_VCPUS),
	BOOL(plan, "dedicatedCpus", dedicated_cpus),
	BOOL(plan, "isolateEmulator", isolate_emulator),
	BOOL(plan, "exclusivityKernel", exclusivity_kernel),
	U64(plan, "cpuShares", cpu_shares, 0, 262144), /* the kernel's own limit */
	U64(plan, "cpuQuotaUs", cpu_quota_us, 0, (uint64_t)PLAN_MAX_VCPUS * 1000000),
	U64(plan, "memoryGuest", memory_guest, 1, PLAN_MAX_BYTES),
	U64(plan, "memoryOverhead", memory_overhead, 0, PLAN_MAX_BYTES),
	U64(plan, "memoryLimit", memory_limit, 1, PLAN_MAX_BYTES),
	U64(plan, "tcgTbSize", tcg_tb_size, 0, PLAN_MAX_BYTES),
	U64(plan, "hugepageSize", hugepage_size, 0, PLAN_MAX_BYTES),
	BOOL(plan, "numaPassthrough", numa_passthrough),
	TEXT_OPT(plan, "realtimeVcpus", realtime_vcpus, TEXT_CPUS),
	TEXT_OPT(plan, "memoryNodes", memory_nodes, TEXT_CPUS),
	TEXT(plan, "firmwareUuid", firmware_uuid, TEXT_UUID),
	TEXT_OPT(plan, "firmwareSerial", firmware_serial, TEXT_LINE),
	TEXT_OPT(plan, "kernelImage", kernel_image, TEXT_LINE),
	TEXT_OPT(plan, "kernelPath", kernel_path, TEXT_PATH),
	TEXT_OPT(plan, "initrdPath", initrd_path, TEXT_PATH),
	TEXT_OPT(plan, "kernelArgs", kernel_args, TEXT_ARGS),
	BOOL(plan, "serialConsole", serial_console),
	BOOL(plan, "serialLog", serial_log),
	BOOL(plan, "graphics", graphics),
	BOOL(plan, "balloon", balloon),
	BOOL(plan, "rng", rng),
	ENUM(plan, "watchdog", watchdog, watchdog_names),
	BOOL(plan, "acpi", acpi),
	UINT(plan, "graceSeconds", grace_seconds, 0, UINT32_MAX),
};

static const struct member isolation_members[] = {
	BOOL(plan_isolation, "user", user),
	BOOL(plan_isolation, "pid", pid),
	BOOL(plan_isolation, "mount", mount),
	BOOL(plan_isolation, "net", net),
	BOOL(plan_isolation, "ipc", ipc),
	BOOL(plan_isolation, "uts", uts),
	BOOL(plan_isolation, "cgroup", cgroup),
	BOOL(plan_isolation, "devices", devices),
	BOOL(plan_isolation, "capabilities", capabilities),
	BOOL(plan_isolation, "noNewPrivs", no_new_privs),
	BOOL(plan_isolation, "dumpableOff", dumpable_off),
	BOOL(plan_isolation, "limits", limits),
	ENUM(plan_isolation, "seccomp", seccomp, seccomp_names),
};

static const struct member disk_members[] = {
	TEXT(plan_disk, "name", name, TEXT_LABEL),
	ENUM(plan_disk, "device", device, device_names),
	ENUM(plan_disk, "bus", bus, bus_names),
	ENUM(plan_disk, "source", source, source_names),
	ENUM(plan_disk, "format", format, format_names),
	TEXT_OPT(plan_disk, "path", path, TEXT_PATH),
	BOOL(plan_disk, "create", create),
	U64(plan_disk, "capacity", capacity, 0, PLAN_MAX_BYTES),
	TEXT_OPT(plan_disk, "serial", serial, TEXT_LINE),
	BOOL(plan_disk, "readonly", readonly),
	BOOL(plan_disk, "shareable", shareable),
	ENUM(plan_disk, "cache", cache, cache_names),
	ENUM(plan_disk, "io", io, io_names),
	UINT(plan_disk, "bootOrder", boot_order, 0, INT_MAX),
};

static const struct member nic_members[] = {
	TEXT(plan_nic, "name", name, TEXT_NAME),
	TEXT(plan_nic, "network", network, TEXT_OBJECT),
	ENUM(plan_nic, "binding", binding, binding_names),
	TEXT(plan_nic, "model", model, TEXT_NAME),
	{"mac", offsetof(struct plan_nic, mac), M_MAC, 0, 0, 0, NULL},
	UINT(plan_nic, "mtu", mtu, 68, 65535), /* IPv4's minimum; the kernel's maximum */
	UINT(plan_nic, "queues", queues, 1, 256),
	BOOL(plan_nic, "vhost", vhost),
	TEXT_OPT(plan_nic, "bridge", bridge, TEXT_LINK),
	TEXT_OPT(plan_nic, "gateway", gateway, TEXT_CIDR),
	UINT(plan_nic, "bootOrder", boot_order, 0, INT_MAX),
};

static json_t *encode_member(const void *base, const struct member *m)
{
	const char *at = (const char *)base + m->offset;
	char mac[MAC_TEXT_MAX];

	switch (m->type) {
	case M_TEXT: {
		const char *text = *(char *const *)(const void *)at;

		return text ? json_string(text) : json_null();
	}
	case M_BOOL:
		return json_boolean(*(const bool *)at);
	case M_UINT:
		return json_integer(*(const unsigned *)(const void *)at);
	case M_U64:
		return json_integer((json_int_t) * (const uint64_t *)(const void *)at);
	case M_ENUM:
		return json_string(m->names[*(const unsigned *)(const void *)at]);
	case M_MAC:
		return json_string(mac_format((const uint8_t *)at, mac));
	}
	return NULL;
}

static json_t *encode(const void *base, const struct member *members, size_t n)
{
	json_t *ret = json_object();

	for (size_t i = 0; i < n; i++)
		(void)json_object_set_new(ret, members[i].key, encode_member(base, &members[i]));
	return ret;
}

#define ENCODE(base, members) encode(base, members, ARRAY_SIZE(members))

json_t *plan_to_json(const struct plan *p)
{
	json_t *ret = ENCODE(p, plan_members);
	json_t *disks = json_array();
	json_t *nics = json_array();

	for (unsigned i = 0; i < p->n_disks; i++)
		(void)json_array_append_new(disks, ENCODE(&p->disks[i], disk_members));
	for (unsigned i = 0; i < p->n_nics; i++)
		(void)json_array_append_new(nics, ENCODE(&p->nics[i], nic_members));
	(void)json_object_set_new(ret, "isolation", ENCODE(&p->isolation, isolation_members));
	(void)json_object_set_new(ret, "cells", plan_cells_to_json(p));
	(void)json_object_set_new(ret, "disks", disks);
	(void)json_object_set_new(ret, "nics", nics);
	return ret;
}

static void free_texts(void *base, const struct member *members, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (members[i].type == M_TEXT)
			free(*(char **)(void *)((char *)base + members[i].offset));
	}
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < p->n_disks; i++)
		free_texts(&p->disks[i], disk_members, ARRAY_SIZE(disk_members));
	for (unsigned i = 0; i < p->n_nics; i++)
		free_texts(&p->nics[i], nic_members, ARRAY_SIZE(nic_members));
	plan_cells_free(p);
	free_texts(p, plan_members, ARRAY_SIZE(plan_members));
	free(p);
}

static bool decode_text(const json_t *v, const struct member *m, char **at)
{
	const char *text = json_string_value(v);

	if (json_is_null(v) && m->min == 0)
		return true;
	if (!text || !text_ok(text, m->kind))
		return false;
	*at = xstrdup(text);
	return true;
}

static bool decode_enum(const json_t *v, const struct member *m, unsigned *at)
{
	for (unsigned i = 0; i < m->max; i++) {
		if (str_eq(json_string_value(v), m->names[i])) {
			*at = i;
			return true;
		}
	}
	return false;
}

static bool decode_member(const json_t *v, const struct member *m, void *base)
{
	char *at = (char *)base + m->offset;
	json_int_t number = json_integer_value(v);

	switch (m->type) {
	case M_TEXT:
		return decode_text(v, m, (char **)(void *)at);
	case M_ENUM:
		return decode_enum(v, m, (unsigned *)(void *)at);
	case M_MAC:
		return json_is_string(v) && mac_parse(json_string_value(v), (uint8_t *)at) == 0 &&
		       mac_check((uint8_t *)at, NULL) == 0;
	case M_BOOL:
		*(bool *)at = json_is_true(v);
		return json_is_boolean(v);
	case M_UINT:
	case M_U64:
		if (!json_is_integer(v) || number < 0 || (uint64_t)number < m->min ||
		    (uint64_t)number > m->max)
			return false;
		if (m->type == M_UINT)
			*(unsigned *)(void *)at = (unsigned)number;
		else
			*(uint64_t *)(void *)at = (uint64_t)number;
		return true;
	}
	return false;
}

/* `extra`: members of the object that are decoded elsewhere. Not exact: as plan_from_record reads. */
static int decode(const json_t *json, const struct member *members, size_t n, size_t extra,
		  void *base, bool exact, struct err *err)
{
	if (!json_is_object(json))
		return err_set(err, -EBADMSG, "must be an object");
	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_object_get(json, members[i].key);

		if (!v && !exact)
			continue;
		if (!v)
			return err_set(err, -EBADMSG, "%s: is missing", members[i].key);
		if (!decode_member(v, &members[i], base))
			return err_set(err, -EBADMSG, "%s: has a wrong type or value",
				       members[i].key);
	}
	if (exact && json_object_size(json) != n + extra)
		return err_set(err, -EBADMSG, "has a member that is not known");
	return 0;
}

#define DECODE(json, members, extra, base, exact, err)                                             \
	decode(json, members, ARRAY_SIZE(members), extra, base, exact, err)

static int decode_disks(const json_t *list, struct plan *p, bool exact, struct err *err)
{
	size_t n = json_array_size(list);

	if (!list && !exact)
		return 0;
	if (!json_is_array(list) || n > PLAN_MAX_DISKS)
		return err_set(err, -EBADMSG, "disks: must be a list of at most %d",
			       PLAN_MAX_DISKS);
	for (size_t i = 0; i < n; i++) {
		struct plan_disk *d = &p->disks[i];
		int r;

		p->n_disks = (unsigned)i + 1; /* first, so that plan_free sees a half-read one */
		r = DECODE(json_array_get(list, i), disk_members, 0, d, exact, err);
		if (r < 0) {
			err_prefix(err, "disks[%zu]", i);
			return r;
		}
		if ((d->source == SOURCE_HOST_DISK) != (d->path != NULL))
			return err_set(err, -EBADMSG, "disks[%zu].path: goes with hostDisk", i);
		for (size_t k = 0; k < i; k++) {
			if (str_eq(p->disks[k].name, d->name))
				return err_set(err, -EBADMSG,
					       "disks[%zu].name: '%s' is there twice", i, d->name);
		}
	}
	return 0;
}

static int decode_nics(const json_t *list, struct plan *p, bool exact, struct err *err)
{
	size_t n = json_array_size(list);

	if (!list && !exact)
		return 0;
	if (!json_is_array(list) || n > PLAN_MAX_NICS)
		return err_set(err, -EBADMSG, "nics: must be a list of at most %d", PLAN_MAX_NICS);
	for (size_t i = 0; i < n; i++) {
		struct plan_nic *nic = &p->nics[i];
		int r;

		p->n_nics = (unsigned)i + 1;
		r = DECODE(json_array_get(list, i), nic_members, 0, nic, exact, err);
		if (r < 0) {
			err_prefix(err, "nics[%zu]", i);
			return r;
		}
		for (size_t k = 0; k < i; k++) {
			if (str_eq(p->nics[k].name, nic->name))
				return err_set(err, -EBADMSG, "nics[%zu].name: '%s' is there twice",
					       i, nic->name);
			if (!memcmp(p->nics[k].mac, nic->mac, sizeof(nic->mac)))
				return err_set(err, -EBADMSG, "nics[%zu].mac: is there twice", i);
		}
	}
	return 0;
}

static int from_json(const json_t *json, bool exact, struct plan **ret, struct err *err)
{
	const json_t *isolation = json_object_get(json, "isolation");
	_cleanup_(plan_freep) struct plan *p = xcalloc(1, sizeof(*p));
	struct err why = {0};
	int r = DECODE(json, plan_members, /* isolation, cells, disks, nics */ 4, p, exact, &why);

	if (r == 0 && (isolation || exact)) {
		r = DECODE(isolation, isolation_members, 0, &p->isolation, exact, &why);
		err_prefix(&why, "isolation");
	}
	if (r == 0)
		r = decode_disks(json_object_get(json, "disks"), p, exact, &why);
	if (r == 0)
		r = decode_nics(json_object_get(json, "nics"), p, exact, &why);
	if (r == 0)
		r = plan_cells_from_json(json_object_get(json, "cells"), p, exact, &why);
	if (r == 0)
		r = exact ? plan_check(p, &why) : plan_check_vcpus(p, &why);
	if (r < 0)
		return err_set(err, r, "plan: %s", why.msg);
	*ret = TAKE_PTR(p);
	return 0;
}

int plan_from_json(const json_t *json, struct plan **ret, struct err *err)
{
	return from_json(json, /* exact= */ true, ret, err);
}

int plan_from_record(const json_t *json, struct plan **ret, struct err *err)
{
	return from_json(json, /* exact= */ false, ret, err);
}
