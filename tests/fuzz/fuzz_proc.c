// SPDX-License-Identifier: Apache-2.0
/* Files of /proc whose content a process has a part in: its name, its mounts, its files' names. */
#include "tests/fuzz/fuzz.h"

#include "cgroups/mounts.h"
#include "handler/numamaps.h"
#include "sandbox/mountinfo.h"
#include "sandbox/procfs.h"

#include "lib/json.h"

static void mounts(const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text);
	struct mount_entry entry;
	struct mountinfo m;
	char *next = copy;

	while (mountinfo_next(&next, &m) > 0)
		json_decref(procfs_text(m.point));
	(void)mounts_find(text, NULL, &entry);
	(void)mounts_find(text, "cpuset", &entry);
}

static void tables(const char *text)
{
	_cleanup_free_ char *stat = xstrdup(text), *limits = xstrdup(text);
	_cleanup_json_ json_t *out = json_object();
	json_t *list;

	(void)procfs_scheduling(stat, out);
	if (procfs_limits(limits, &list) == 0)
		json_decref(list);
	json_decref(procfs_map(text));
	json_decref(numamaps_guest(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *text = fuzz_text(data, len);

	mounts(text);
	tables(text);
	json_decref(procfs_field(text, "Name"));
	json_decref(procfs_numbers(text, "NSpid"));
	(void)procfs_number(text, "Seccomp");
	return 0;
}
