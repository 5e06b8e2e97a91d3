// SPDX-License-Identifier: Apache-2.0
#include "handler/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/sysinfo.h>

#define MIB (1024 * 1024)

static uint64_t wanted(const struct plan *plan)
{
	return plan->memory_guest + plan->memory_overhead + plan->tcg_tb_size;
}

int memory_check(const struct pod *pod, struct err *err)
{
	uint64_t total, held = 0, want = wanted(pod->plan);
	char holders[400] = "";
	struct sysinfo info;
	size_t n = 0;

	if (sysinfo(&info) < 0)
		return err_errno(err, -errno, "the host's memory");
	total = (uint64_t)info.totalram * info.mem_unit;
	for (const struct pod *p = pod->h->pods; p; p = p->next) {
		if (p == pod || !p->plan)
			continue;
		held += wanted(p->plan);
		if (n < sizeof holders)
			n += (size_t)snprintf(holders + n, sizeof holders - n,
					      "%s%s/%s %" PRIu64 " MiB", n ? ", " : "; held by ",
					      p->record.ns, p->record.name, wanted(p->plan) / MIB);
	}
	if (want <= total && held <= total - want)
		return 0;
	return err_set(err, -EBUSY,
		       "memory: wanted %" PRIu64 " MiB (guest and overhead), free %" PRIu64
		       " of %" PRIu64 " MiB%s: give the VM less, or stop others",
		       want / MIB, held < total ? (total - held) / MIB : 0, total / MIB, holders);
}
