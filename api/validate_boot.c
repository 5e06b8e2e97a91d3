// SPDX-License-Identifier: Apache-2.0
/* Machine, firmware, direct kernel boot, watchdog, and the annotations that change how a VM runs. */
#include <fnmatch.h>
#include <string.h>

#include "api/check.h"
#include "api/plan_make.h"
#include "api/schema.h"
#include "api/text.h"
#include "lib/json.h"

#define KERNEL "domain.firmware.kernelBoot"

static void check_kernel_paths(const struct check *c)
{
	static const char *const fields[] = {KERNEL ".container.kernelPath",
					     KERNEL ".container.initrdPath"};
	const char *path;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		path = json_str(c->spec, fields[i]);
		if (path && !text_ok(path, TEXT_PATH))
			check_add(c, CAUSE_INVALID, fields[i],
				  "is '%.200s', must be an absolute path of printable characters, "
				  "without '..'",
				  path);
	}
	if (!json_str(c->spec, fields[0]) && !json_str(c->spec, fields[1]))
		check_add(c, CAUSE_REQUIRED, KERNEL ".container",
			  "has neither kernelPath nor initrdPath: say where in the image they are");
	else if (!json_str(c->spec, fields[0]))
		check_add(c, CAUSE_REQUIRED, fields[0],
			  "is missing: QEMU takes no initrd without a kernel");
}

static void check_kernel(const struct check *c)
{
	const char *args = json_str(c->spec, KERNEL ".kernelArgs");
	const char *image = json_str(c->spec, KERNEL ".container.image");
	const char *pull = json_str(c->spec, KERNEL ".container.imagePullPolicy");

	if (args && *args && !json_get(c->spec, KERNEL ".container"))
		check_add(c, CAUSE_INVALID, KERNEL ".kernelArgs",
			  "goes with a kernel only: add kernelBoot.container");
	else if (args && !text_ok(args, TEXT_ARGS))
		check_add(c, CAUSE_INVALID, KERNEL ".kernelArgs",
			  "must be one line of at most 2047 characters");
	if (!json_get(c->spec, KERNEL ".container"))
		return;
	if (!image || !*image)
		check_add(c, CAUSE_REQUIRED, KERNEL ".container.image",
			  "is missing: it names the folder or image with the kernel");
	else if (!text_ok(image, TEXT_LINE))
		check_add(c, CAUSE_INVALID, KERNEL ".container.image",
			  "must be an image reference of at most 256 characters");
	check_kernel_paths(c);
	if (str_eq(pull, "Always"))
		check_add(c, CAUSE_NOT_SUPPORTED, KERNEL ".container.imagePullPolicy",
			  "Always " NOT_YET ": images are not pulled; say IfNotPresent");
	else if (pull && strcmp(pull, "IfNotPresent") != 0 && strcmp(pull, "Never") != 0)
		check_add(c, CAUSE_INVALID, KERNEL ".container.imagePullPolicy",
			  "is '%.60s', must be IfNotPresent or Never", pull);
}

static void check_watchdog(const struct check *c)
{
	const char *action = json_str(c->spec, "domain.devices.watchdog.i6300esb.action");

	if (action && strcmp(action, "reset") != 0 && strcmp(action, "poweroff") != 0 &&
	    strcmp(action, "shutdown") != 0)
		check_add(c, CAUSE_INVALID, "domain.devices.watchdog.i6300esb.action",
			  "is '%.60s', must be reset, poweroff or shutdown", action);
}

void check_boot(const struct check *c)
{
	const char *machine = json_str(c->spec, "domain.machine.type");
	const char *uuid = json_str(c->spec, "domain.firmware.uuid");
	const char *serial = json_str(c->spec, "domain.firmware.serial");

	if (machine && ((fnmatch("q35*", machine, 0) != 0 && fnmatch("pc-q35*", machine, 0) != 0) ||
			!text_ok(machine, TEXT_NAME)))
		check_add(c, CAUSE_INVALID, "domain.machine.type",
			  "is '%.60s', must be q35 or one of pc-q35-*", machine);
	if (uuid && !text_ok(uuid, TEXT_UUID))
		check_add(c, CAUSE_INVALID, "domain.firmware.uuid",
			  "is '%.60s', must be a UUID such as 3c5d1c3e-0b8f-4d55-9a7e-1f0a51b2c3d4",
			  uuid);
	if (serial && !text_ok(serial, TEXT_LINE))
		check_add(c, CAUSE_INVALID, "domain.firmware.serial",
			  "must be one line of at most 256 characters");
	check_kernel(c);
	check_watchdog(c);
}

/* Annotations by which others change how a VM runs: taken in silence they would be promises. */
static void check_foreign(const struct check *c, const char *key, const char *field)
{
	static const char *const refused[] = {
		"hooks.kubevirt.io/hookSidecars",
		"kubevirt.io/ignitiondata",
		"alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity",
		"irq-load-balancing.crio.io",
		"cpu-load-balancing.crio.io",
		"cpu-quota.crio.io",
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		if (!strcmp(refused[i], key))
			cause_add(c->causes, CAUSE_NOT_SUPPORTED, field, NOT_YET);
	}
}

static void check_ours(const struct check *c, const char *key, const char *value, const char *field)
{
	struct plan_isolation isolation;
	struct err err = {0};

	if (!strcmp(key, "virtpod.io/isolation")) {
		if (plan_isolation_parse(value, &isolation, &err) < 0)
			cause_add(c->causes, CAUSE_INVALID, field, "%s", err.msg);
		else if (!isolation.net &&
			 json_array_size(json_get(c->spec, "domain.devices.interfaces")))
			cause_add(c->causes, CAUSE_INVALID, field,
				  "net=off leaves the pod in the host's network, where its "
				  "interfaces "
				  "can't be wired: take the interfaces away, or net=off");
	} else if (strcmp(key, "virtpod.io/exclusivity") != 0) {
		cause_add(
			c->causes, CAUSE_INVALID, field,
			"is not known: known are virtpod.io/isolation and virtpod.io/exclusivity");
	} else if (!strcmp(value, "kernel")) {
		if (!json_flag(c->spec, "domain.cpu.dedicatedCpuPlacement", false))
			cause_add(c->causes, CAUSE_INVALID, field,
				  "kernel needs spec.domain.cpu.dedicatedCpuPlacement: true");
	} else if (strcmp(value, "ledger") != 0) {
		cause_add(c->causes, CAUSE_INVALID, field, "is '%.60s', must be kernel or ledger",
			  value);
	}
}

void check_annotations(const struct check *c)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)c->annotations, key, value) {
		_cleanup_free_ char *field = xasprintf("%s[%.200s]", c->annotations_path, key);
		const char *text = json_string_value(value);

		check_foreign(c, key, field);
		if (text && str_after(key, "virtpod.io/"))
			check_ours(c, key, text, field);
	}
}
