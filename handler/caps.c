// SPDX-License-Identifier: Apache-2.0
#include "handler/caps.h"

#include "lib/util.h"

#include <cap-ng.h>
#include <errno.h>
#include <stdbool.h>

static const struct {
	unsigned cap;
	const char *what_for;
} kept[] = {
	{CAP_SYS_ADMIN, "namespaces, mounts, setns, cgroup trees"},
	{CAP_NET_ADMIN, "links, taps, bridges"},
	{CAP_MKNOD, "nodes of the pods' /dev"},
	{CAP_CHOWN, "and their owners"},
	{CAP_SETUID, "uid maps, the spawn child's change of identity"},
	{CAP_SETGID, "gid maps, empty group lists"},
	{CAP_SETPCAP, "this cut, and the launcher's own"},
	{CAP_KILL, "signals to pods, which run as other users"},
	{CAP_SYS_PTRACE, "/proc of pods: namespaces, fds, roots"},
	{CAP_SYS_NICE, "affinity of pods' threads, SCHED_FIFO of realtime vCPUs"},
	{CAP_SYS_RESOURCE,
	 "pods' locked memory and descriptors above the hard limits, where the host has it"},
	{CAP_DAC_OVERRIDE, "disk images, cgroup files and pod directories of other owners"},
	{CAP_DAC_READ_SEARCH, "the same, to read"},
	{CAP_FOWNER, "modes of files of other owners"},
};

int caps_cut(struct err *err)
{
	capng_get_caps_process();
	for (unsigned cap = 0; cap <= CAP_LAST_CAP; cap++) {
		bool keep = false;

		for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
			keep |= kept[i].cap == cap;
		if (!keep)
			(void)capng_update(CAPNG_DROP,
					   CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_INHERITABLE |
						   CAPNG_BOUNDING_SET,
					   cap); /* its arguments are right: it can't fail */
	}
	if (capng_apply(CAPNG_SELECT_BOTH) < 0)
		return err_set(err, -EPERM,
			       "can't cut the handler's capabilities: it must start as root with "
			       "CAP_SETPCAP");
	return 0;
}
