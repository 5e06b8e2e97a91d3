// SPDX-License-Identifier: Apache-2.0
/* Where QEMU's memory is, and how much of it is locked there. */
#include "handler/inspect_internal.h"

#include "handler/numamaps.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/util.h"
#include "sandbox/status.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define MAPS_MAX (16 * 1024 * 1024) /* the kernel's limit of 65530 mappings, 250 bytes each */

static json_t *guest_json(const struct inspect *in)
{
	const struct plan *plan = in->pod->plan;
	_cleanup_free_ char *text = NULL;
	char path[64];

	if (!plan || !numamaps_wanted(plan))
		return json_null();
	(void)snprintf(path, sizeof path, "/proc/%d/numa_maps", in->pod->qemu_pid);
	if (file_read_at(AT_FDCWD, path, MAPS_MAX, &text, NULL) < 0)
		return json_null();
	return numamaps_guest(text);
}

static json_t *locked_json(const struct inspect *in)
{
	_cleanup_free_ char *status = NULL;
	char path[64], value[32];

	(void)snprintf(path, sizeof path, "/proc/%d/status", in->pod->qemu_pid);
	if (file_read_at(AT_FDCWD, path, STATUS_MAX, &status, NULL) < 0 ||
	    status_field(status, "VmLck", value, sizeof value) < 0)
		return json_null();
	return json_integer((json_int_t)strtoll(value, NULL, 10) * 1024);
}

void inspect_memory(const struct inspect *in, const json_t *processes, json_t *out)
{
	bool qemu = inspect_find(processes, "qemu");

	(void)json_object_set_new(out, "guest", qemu ? guest_json(in) : json_null());
	(void)json_object_set_new(out, "lockedBytes", qemu ? locked_json(in) : json_null());
}
