// SPDX-License-Identifier: Apache-2.0
#include "handler/partition.h"

#include "handler/pins.h"
#include "handler/status.h"

#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Nobody tells when what stands in the way has gone; a look is a read of each top group's cpuset.cpus. */
#define RETRY_USEC (10 * 1000000ull)

#define CONDITION "virtpod.io/Exclusive"

static void arm_retry(struct pod *pod)
{
	if (!pod->partition_retry)
		return; /* pins alone, of a pod without a partition: the next change looks again */
	(void)sd_event_source_set_time_relative(pod->partition_retry, RETRY_USEC);
	(void)sd_event_source_set_enabled(pod->partition_retry, SD_EVENT_ONESHOT);
}

void partition_check(struct pod *pod)
{
	struct err err = {0};
	int r;

	if (pod->state != POD_STARTING && pod->state != POD_RUNNING)
		return;
	r = cgroup_pod_repair(pod->h->cgroups, pod->record.uid, &err);

	if (r == 1)
		log_warning("%s/%s: its partition was made invalid by somebody: repaired",
			    pod->record.ns, pod->record.name);
	if (r >= 0)
		r = pins_repair(pod, &err);
	if (r == 0 && pod->partition_lost) {
		pod->partition_lost = false;
		status_remove_condition(pod->status, CONDITION);
		pod_publish(pod);
	}
	if (r == 0)
		return;
	if (!pod->partition_lost) {
		log_warning("%s/%s: its CPUs are not exclusive any more: %s", pod->record.ns,
			    pod->record.name, err.msg);
		pod->partition_lost = true;
		status_set_condition(pod->status, CONDITION, "False", "PartitionInvalid", err.msg);
		pod_publish(pod);
	}
	arm_retry(pod);
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	partition_check(userdata);
	return 0;
}

static int on_change(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	char text[256];

	(void)revents;
	if (pread(fd, text, sizeof text, 0) < 0) { /* this re-arms it; ENODEV: the group has gone */
		(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
		return 0;
	}
	partition_check(userdata);
	return 0;
}

static int add_sources(struct pod *pod, int fd_consume, struct err *err)
{
	int r = sd_event_add_io(pod->h->event, &pod->partition_source, fd_consume, EPOLLPRI,
				on_change, pod);

	if (r < 0) {
		(void)fd_close(fd_consume);
		return err_errno(err, r, "watch the partition");
	}
	(void)sd_event_source_set_io_fd_own(pod->partition_source, true);
	(void)sd_event_source_set_description(pod->partition_source, "partition");
	r = sd_event_add_time_relative(pod->h->event, &pod->partition_retry, CLOCK_MONOTONIC,
				       RETRY_USEC, /* accuracy= */ 1000000, on_retry, pod);
	if (r >= 0)
		r = sd_event_source_set_enabled(pod->partition_retry, SD_EVENT_OFF);
	return r < 0 ? err_errno(err, r, "watch the partition: timer") : 0;
}

int partition_watch(struct pod *pod, struct err *err)
{
	struct err why = {0};
	char text[256];
	int fd, r;

	if (!pod->plan || !pod->plan->dedicated_cpus || pod->partition_source)
		return 0;
	r = cgroup_pod_partition_events(pod->h->cgroups, pod->record.uid, &fd, &why);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return err_set(err, r, "%s", why.msg);
	/* what happened until now is looked at below */
	r = pread(fd, text, sizeof text, 0) < 0 ? err_errno(err, -errno, "partition") : 0;
	if (r < 0)
		(void)fd_close(fd);
	else
		r = add_sources(pod, fd, err);
	if (r == 0)
		partition_check(pod);
	return r;
}

void partition_unwatch(struct pod *pod)
{
	pod->partition_source = sd_event_source_disable_unref(pod->partition_source);
	pod->partition_retry = sd_event_source_disable_unref(pod->partition_retry);
}
