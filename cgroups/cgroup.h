// SPDX-License-Identifier: Apache-2.0
/*
 * The cgroups of pods, one interface over every kind of host: limits, device allowlist, cpusets,
 * membership, kill and use. Names carry the tag of the handler's root, so that several handlers
 * share a host; nothing outside groups of that tag is ever written. No state is kept here: every
 * question is answered by the kernel at the time it is asked. docs/cgroups.md has the layouts.
 * Errors: -EINVAL a malformed tag, uid or spec; -ENOENT no such pod; else what the kernel said.
 */
#pragma once

#include "lib/err.h"

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup_host;

/*
 * Look at this host's hierarchies; makes nothing. tag: 8 lower-case hex digits. -ENOTSUP on v1
 * controllers that share a mount or are partly in v2, -ENOENT when a controller isn't mounted.
 */
int cgroup_host_open(const char *tag, struct cgroup_host **ret, struct err *err);
void cgroup_host_free(struct cgroup_host *h);

bool cgroup_host_v2(const struct cgroup_host *h); /* else v1 */

/* Remove our top groups unless a pod is left, which is no error. */
int cgroup_host_remove(struct cgroup_host *h, struct err *err);

/*
 * Can there be partitions? 0, or -ENOTSUP with what is in the way: the kind of host, what the kernel says
 * to each kind of partition, a group that is no pod's and holds CPUs. Tried in a group of this tag that is
 * made and removed; it has no CPUs, so that nobody loses any, and the kernel's answer is a partition that
 * is invalid for want of them. -EAGAIN: no group below the root has the controller cpuset, and switching
 * it on would move every task of the host; -EBUSY: another process is trying.
 */
int cgroup_partition_try(struct cgroup_host *h, struct err *err);

struct cgroup_limits {	     /* 0 = none */
	uint64_t memory_max; /* bytes, swap included where it is accounted; rounded down to pages */
	uint64_t pids_max;
	uint64_t cpu_quota_us, cpu_period_us; /* both or none */
	uint64_t cpu_shares;		      /* v1 scale: 2..262144, 1024 = one CPU */
};

uint64_t cgroup_cpu_weight(uint64_t shares); /* v2's cpu.weight for v1's cpu.shares */

struct cgroup_device {
	char type; /* 'c' or 'b' */
	unsigned major, minor;
	bool any_minor;
	const char *access; /* of the letters "rwm" */
};

struct cgroup_pod_spec {
	const char *uid; /* 36 characters: lower-case UUID */
	struct cgroup_limits limits;
	/* All that is not listed is denied; NULL (with n_devices 0): no allowlist at all. */
	const struct cgroup_device *devices;
	unsigned n_devices;
	cpu_set_t emu;	/* everything but vCPU threads; not empty */
	cpu_set_t vcpu; /* dedicated CPUs of vCPU threads; disjoint from emu; empty: none */
	cpu_set_t mems; /* NUMA nodes; empty: all */
	bool emu_own;	/* emu is this pod's alone, not a pool that others share and that changes */
	/*
	 * The kernel must keep everybody else off the vCPU CPUs, on v2 off emu as well: -ENOTSUP says
	 * why it can't. Without it exclusivity is the caller's ledger alone.
	 */
	bool exclusive;
};

enum cgroup_place { CGROUP_EMU, CGROUP_VCPU };

/*
 * Make all groups of a pod, set everything, read everything back: a difference is an error (-EIO).
 * On failure nothing stays. -EEXIST when a group of this uid is there, which is then left alone.
 */
int cgroup_pod_create(struct cgroup_host *h, const struct cgroup_pod_spec *spec, struct err *err);

/*
 * The calling process, of one thread, joins all groups (emu). After an error it must exit: it is half
 * inside. born: but for the one that its child will be born in (cgroup_pod_birthplace).
 */
int cgroup_pod_enter(struct cgroup_host *h, const char *uid, bool born, struct err *err);

/*
 * The pod's (emu) group in v2's tree, for clone3's CLONE_INTO_CGROUP; the caller's. A process that is
 * born in a group needs no move, for which the kernel may wait for RCU. -1 on a host without that tree.
 */
int cgroup_pod_birthplace(struct cgroup_host *h, const char *uid, int *ret_fd, struct err *err);

/* Move one thread of the pod (host tid; -EPERM for a stranger) and read back where it is. */
int cgroup_pod_place(struct cgroup_host *h, const char *uid, pid_t tid, enum cgroup_place place,
		     struct err *err);

/*
 * Change the pod's emu CPUs, live. Threads keep or lose their own affinity by kernel version
 * (6.1 resets it to the whole set): who pinned threads inside pins them again.
 */
int cgroup_pod_set_emu_cpus(struct cgroup_host *h, const char *uid, const cpu_set_t *cpus,
			    struct err *err);

/* Is this host tid in a group of the pod in every hierarchy? -ESRCH: no such thread. */
int cgroup_pod_has_task(struct cgroup_host *h, const char *uid, pid_t tid, bool *ret,
			struct err *err);

/*
 * SIGKILL to every process of the pod, fork bombs included; they are gone some time later. A pod
 * that doesn't exist is killed already. -ENOTSUP where the kernel has no cgroup.kill: kill PID 1.
 */
int cgroup_pod_kill(struct cgroup_host *h, const char *uid, struct err *err);

/*
 * An fd that polls POLLPRI whenever the pod gains its first or loses its last process (read it
 * from the start to re-arm); the caller closes it. -ENOTSUP without a cgroup2 mount.
 */
int cgroup_pod_events(struct cgroup_host *h, const char *uid, int *ret_fd, struct err *err);

/*
 * The same for the state of the pod's partition, or for CGROUP_VCPU of the one inside it; -ENOENT
 * for a pod without one. A cpuset.cpus of
 * some other group that overlaps makes a partition invalid, and the kernel tells no other way.
 */
int cgroup_pod_partition_events(struct cgroup_host *h, const char *uid, enum cgroup_place place,
				int *ret_fd, struct err *err);

/*
 * The folders of a pod with a partition, of its own group and of its two children, for inotify: a write to a
 * file in them, by whomever, is IN_MODIFY with the file's name. The caller's. -ENOENT as above.
 */
#define CGROUP_PARTITION_FOLDERS 3
int cgroup_pod_partition_folders(struct cgroup_host *h, const char *uid,
				 int ret_fds[static CGROUP_PARTITION_FOLDERS], struct err *err);

/*
 * Make the pod's partition valid again where it isn't, and its groups' CPUs what they were made with: emu
 * and vcpu. 0: there was nothing to do, or there is no partition; 1: repaired, and threads' own masks may
 * be lost; -ENOTSUP: what stands in the way.
 */
int cgroup_pod_repair(struct cgroup_host *h, const char *uid, const cpu_set_t *emu,
		      const cpu_set_t *vcpu, struct err *err);

int cgroup_pod_empty(struct cgroup_host *h, const char *uid, bool *ret, struct err *err);

/*
 * Remove the pod's groups, and our top groups with the last pod's. Waits up to one second for
 * processes that are dying; then -EBUSY names one that is still there, and nothing was removed. (A
 * killed guest of many GiB takes longer: wait with cgroup_pod_events.) A pod that is gone, or half
 * gone, is no error.
 */
int cgroup_pod_destroy(struct cgroup_host *h, const char *uid, struct err *err);

/*
 * Everything that can be shown of a pod, as the kernel says it now; the caller owns *ret. Sizes in
 * bytes, times in microseconds, CPU lists as text, null for "none" and "no limit". Keys:
 *   mode         "v1", "v2"
 *   paths, tasks by group (v1: unified, cpuset, cpusetVcpu, memory, pids, cpu, devices; v2: emu,
 *                vcpu): path as in /proc/PID/cgroup, array of host tids
 *   cpuset       emu, vcpu (null: no dedicated CPUs): cpus, effectiveCpus, mems, exclusive. v2 also
 *                partition: pod, vcpu, as cpuset.cpus.partition says it ("root invalid (why)"), cpus,
 *                null for a pod that was made without
 *   exclusivity  of the vCPU CPUs: "kernel", "ledger", null without any. "kernel" means on v1 that
 *                no other cpuset can hold them, and tasks of the root cpuset still may run there; on
 *                v2 that pod and vcpu are valid partitions: kernel threads alone may
 *   limits       memoryMax, memorySwapMax (memory and swap together), pidsMax, cpuQuotaUs,
 *                cpuPeriodUs, cpuShares (v1), cpuWeight (v2)
 *   use          memoryBytes, memoryPeakBytes, pids, cpuUsec, cpuPeriods, cpuThrottledPeriods,
 *                cpuThrottledUsec
 *   events       oomKills, memoryLimitHits, pidsLimitHits
 *   devices      allowed ones, as "c 10:232 rwm"
 */
int cgroup_pod_read(struct cgroup_host *h, const char *uid, json_t **ret, struct err *err);

struct foreign_task {
	pid_t pid;
	cpu_set_t cpus; /* of those asked about, the ones it may run on */
};

/*
 * Who wants CPUs for itself must not find another root's pod there. 1 and *ret: a task that is in
 * one, by its cpuset (launchers, QEMU's threads but vCPUs, and all of a VM's without CPUs of its own).
 */
int cgroup_find_foreign(struct cgroup_host *h, const cpu_set_t *cpus, struct foreign_task *ret,
			struct err *err);

/* Uids of all pods that have at least one group under our tag, sorted; free with cgroup_list_free. */
int cgroup_list(struct cgroup_host *h, char ***ret_uids, size_t *ret_n, struct err *err);
void cgroup_list_free(char **uids, size_t n);
