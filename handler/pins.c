// SPDX-License-Identifier: Apache-2.0
#include "handler/pins.h"

#include "handler/podevents.h"

#include "lib/cpus.h"
#include "lib/log.h"
#include "lib/util.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int pins_set(struct pod *pod, struct err *err)
{
	for (unsigned i = 0; i < pod->cpus.n_vcpus; i++) {
		pid_t tid = pod->vcpu_tids[i];
		cpu_set_t one;
		int r;

		r = cgroup_pod_place(pod->h->cgroups, pod->record.uid, tid, CGROUP_VCPU, err);
		if (r < 0)
			return r;
		CPU_ZERO(&one);
		CPU_SET(pod->cpus.vcpu[i], &one);
		if (sched_setaffinity(tid, sizeof one, &one) < 0)
			return err_errno(err, -errno, "pin vCPU %u (thread %d) to CPU %d", i, tid,
					 pod->cpus.vcpu[i]);
	}
	return 0;
}

static int vcpu_of(const struct pod *pod, pid_t tid)
{
	for (unsigned i = 0; i < pod->cpus.n_vcpus; i++)
		if (pod->vcpu_tids[i] == tid)
			return (int)i;
	return -1;
}

static int verify_thread(const struct pod *pod, pid_t tid, const cpu_set_t *dedicated,
			 struct err *err)
{
	char text[CPUS_TEXT_MAX];
	cpu_set_t mask, common;
	int vcpu = vcpu_of(pod, tid);

	if (sched_getaffinity(tid, sizeof mask, &mask) < 0)
		return errno == ESRCH ? 0 : err_errno(err, -errno, "affinity of thread %d", tid);
	if (vcpu >= 0) {
		if (CPU_COUNT(&mask) == 1 && CPU_ISSET(pod->cpus.vcpu[vcpu], &mask))
			return 0;
		return err_set(err, -EIO,
			       "vCPU %d (thread %d): must run on CPU %d alone, runs on %s", vcpu,
			       tid, pod->cpus.vcpu[vcpu], cpus_format(&mask, text));
	}
	CPU_AND(&common, &mask, dedicated);
	if (!CPU_COUNT(&common))
		return 0;
	return err_set(err, -EIO, "thread %d, no vCPU: may run on dedicated CPUs %s", tid,
		       cpus_format(&common, text));
}

typedef int thread_fn(const struct pod *pod, pid_t tid, const cpu_set_t *dedicated,
		      struct err *err);

static int each_thread(const struct pod *pod, pid_t pid, const cpu_set_t *dedicated, thread_fn *fn,
		       struct err *err)
{
	_cleanup_dir_ DIR *dir = NULL;
	struct dirent *de;
	char path[64];
	int r = 0;

	(void)snprintf(path, sizeof path, "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return err_errno(err, -errno, "%s", path);
	while (r == 0 && (de = readdir(dir)))
		if (de->d_name[0] != '.')
			r = fn(pod, (pid_t)strtol(de->d_name, NULL, 10), dedicated, err);
	return r;
}

static void dedicated_of(const struct pod *pod, cpu_set_t *ret)
{
	CPU_ZERO(ret);
	for (unsigned i = 0; i < pod->cpus.n_vcpus; i++)
		CPU_SET(pod->cpus.vcpu[i], ret);
}

int pins_verify(struct pod *pod, struct err *err)
{
	cpu_set_t dedicated;
	int r;

	if (!pod->cpus.n_vcpus)
		return 0;
	dedicated_of(pod, &dedicated);
	r = each_thread(pod, (pid_t)pod->record.pid, &dedicated, verify_thread, err);
	return r < 0 ? r : each_thread(pod, pod->qemu_pid, &dedicated, verify_thread, err);
}

/* A thread that may run on dedicated CPUs and is no vCPU's goes where the others are. */
static int place_stray(const struct pod *pod, pid_t tid, const cpu_set_t *dedicated,
		       struct err *err)
{
	struct err why = {0};
	int r;

	if (verify_thread(pod, tid, dedicated, &why) == 0 || vcpu_of(pod, tid) >= 0)
		return 0;
	err_clear(&why);
	r = cgroup_pod_place(pod->h->cgroups, pod->record.uid, tid, CGROUP_EMU, &why);
	if (r == -ESRCH) /* QEMU's workers come and go */
		return 0;
	return r < 0 ? err_set(err, r, "%s", why.msg) : 0;
}

int pins_repair(struct pod *pod, struct err *err)
{
	struct err drift = {0};
	cpu_set_t dedicated;
	int r;

	if (!pod->qemu_pid || pins_verify(pod, &drift) == 0)
		return 0;
	dedicated_of(pod, &dedicated);
	r = pins_set(pod, err);
	if (r == 0)
		r = each_thread(pod, (pid_t)pod->record.pid, &dedicated, place_stray, err);
	if (r == 0)
		r = each_thread(pod, pod->qemu_pid, &dedicated, place_stray, err);
	if (r == 0)
		r = pins_verify(pod, err);
	if (r == 0) {
		_cleanup_free_ char *text = xasprintf("drift: %s: repaired", drift.msg);

		log_warning("%s/%s: %s", pod->record.ns, pod->record.name, text);
		pod_event_warning(pod, "PinsRepaired", text);
	}
	return r;
}
