// SPDX-License-Identifier: Apache-2.0
#include "handler/exclusive.h"

#include "handler/cpuset.h"
#include "handler/kthreads.h"
#include "handler/pins.h"
#include "handler/podevents.h"
#include "handler/status.h"

#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

/* Nobody tells when what stands in the way has gone; a look is a read of each top group's cpuset.cpus. */
#define RETRY_USEC (10 * 1000000ull)

#define CONDITION "virtpod.io/Exclusive"

static int watch_state(struct pod *pod, struct err *err);

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	exclusive_check(userdata);
	return 0;
}

static void look_again_later(struct pod *pod)
{
	int r;

	if (pod->exclusive_retry) {
		r = sd_event_source_set_time_relative(pod->exclusive_retry, RETRY_USEC);
		if (r >= 0)
			r = sd_event_source_set_enabled(pod->exclusive_retry, SD_EVENT_ONESHOT);
	} else {
		r = sd_event_add_time_relative(pod->h->event, &pod->exclusive_retry,
					       CLOCK_MONOTONIC, RETRY_USEC, /* accuracy= */ 1000000,
					       on_retry, pod);
	}
	if (r < 0)
		log_error("%s/%s: timer: %s", pod->record.ns, pod->record.name, strerror(-r));
}

/* The status is what an earlier handler's word is known by, too. */
static void complain(struct pod *pod, const char *reason, const struct err *why)
{
	const json_t *said = status_condition(pod->status, CONDITION);

	look_again_later(pod);
	if (said && str_eq(json_str(said, "reason"), reason) &&
	    str_eq(json_str(said, "message"), why->msg))
		return;
	log_warning("%s/%s: its CPUs are not its own: %s", pod->record.ns, pod->record.name,
		    why->msg);
	status_set_condition(pod->status, CONDITION, "False", reason, why->msg);
	pod_publish(pod);
	pod_event_warning(pod, reason, why->msg);
}

/* As cgroup_pod_repair, which it tells of. */
static int repair(struct pod *pod, struct err *err)
{
	cpu_set_t vcpus, shared;
	int r;

	CPU_ZERO(&vcpus);
	for (unsigned i = 0; i < pod->cpus.n_vcpus; i++)
		CPU_SET(pod->cpus.vcpu[i], &vcpus);
	r = cgroup_pod_repair(pod->h->cgroups, pod->record.uid, &pod->cpus.emulator, &vcpus, err);
	if (r != 1)
		return r;
	log_warning("%s/%s: its partition was made invalid by somebody: repaired", pod->record.ns,
		    pod->record.name);
	pod_event_warning(pod, "PartitionRepaired",
			  "its partition was made invalid by somebody: repaired");
	/* 6.1 resets masks of the root group's threads, too */
	if (pod->h->has.kvm && cpuset_shared(pod->h, &shared, NULL) == 0)
		kthreads_confine(&shared);
	return r;
}

void exclusive_check(struct pod *pod)
{
	struct err partition = {0}, pins = {0};
	int r, q;

	if (!pod->plan || !pod->plan->dedicated_cpus ||
	    (pod->state != POD_STARTING && pod->state != POD_RUNNING))
		return;
	r = repair(pod, &partition);
	if (r == 1 && watch_state(pod, &partition) < 0)
		r = partition.code;
	q = pins_repair(pod, &pins);
	if (r < 0) {
		complain(pod, "PartitionInvalid", &partition);
	} else if (q == -ESRCH || q == -ENOENT) {
		return; /* QEMU is ending: its pidfd tells */
	} else if (q < 0) {
		complain(pod, "ThreadsMoved", &pins);
	} else if (status_condition(pod->status, CONDITION)) {
		log_info("%s/%s: its CPUs are its own again", pod->record.ns, pod->record.name);
		status_remove_condition(pod->status, CONDITION);
		pod_publish(pod);
		pod_event(pod, "Exclusive", "its CPUs are its own again");
	}
}

static int on_change(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	char text[256];

	(void)revents;
	/* this re-arms it; ENODEV: cpuset was switched off there, or the group has gone */
	if (pread(fd, text, sizeof text, 0) < 0) {
		(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
		return 0;
	}
	exclusive_check(userdata);
	return 0;
}

/*
 * A set that is changed, or cpuset that is switched off below the pod, changes no partition's state; that
 * somebody wrote there can be seen all the same. Our own repair is such a write: once it has failed, the
 * retry looks, not each write of its own.
 */
static int on_write(sd_event_source *source, const struct inotify_event *event, void *userdata)
{
	struct pod *pod = userdata;
	int waits = SD_EVENT_OFF;

	(void)source;
	if (!event->len ||
	    (!str_after(event->name, "cpuset.") && !str_eq(event->name, "cgroup.subtree_control")))
		return 0;
	if (pod->exclusive_retry)
		(void)sd_event_source_get_enabled(pod->exclusive_retry, &waits);
	if (waits == SD_EVENT_OFF)
		exclusive_check(pod);
	return 0;
}

static int watch_writes(struct pod *pod, struct err *err)
{
	int fds[CGROUP_PARTITION_FOLDERS], r;
	struct err why = {0};

	r = cgroup_pod_partition_folders(pod->h->cgroups, pod->record.uid, fds, &why);
	if (r == -ENOENT) /* no partition */
		return 0;
	if (r < 0)
		return err_set(err, r, "%s", why.msg);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (r == 0)
			r = sd_event_add_inotify_fd(pod->h->event, &pod->partition_writes[i],
						    fds[i], IN_MODIFY, on_write, pod);
		(void)fd_close(fds[i]); /* the watch is the inode's */
	}
	return r < 0 ? err_errno(err, r, "watch the partition's folders") : 0;
}

static int watch_file(struct pod *pod, enum cgroup_place place, sd_event_source **ret,
		      struct err *err)
{
	_cleanup_fd_ int fd = -1;
	struct err why = {0};
	char text[256];
	int r = cgroup_pod_partition_events(pod->h->cgroups, pod->record.uid, place, &fd, &why);

	if (r == -ENOENT) /* no partition */
		return 0;
	if (r < 0)
		return err_set(err, r, "%s", why.msg);
	/* what has happened until now is looked at right after */
	if (pread(fd, text, sizeof text, 0) < 0)
		return err_errno(err, -errno, "partition");
	r = sd_event_add_io(pod->h->event, ret, fd, EPOLLPRI, on_change, pod);
	if (r < 0)
		return err_errno(err, r, "watch the partition");
	(void)sd_event_source_set_io_fd_own(*ret, true);
	(void)TAKE_FD(fd);
	(void)sd_event_source_set_description(*ret, "partition");
	return 0;
}

static void unwatch_state(struct pod *pod)
{
	pod->partition_source = sd_event_source_disable_unref(pod->partition_source);
	pod->vcpu_partition_source = sd_event_source_disable_unref(pod->vcpu_partition_source);
}

/* Anew also after a repair: the files may be others then. */
static int watch_state(struct pod *pod, struct err *err)
{
	int r;

	unwatch_state(pod);
	r = watch_file(pod, CGROUP_EMU, &pod->partition_source, err);
	return r < 0 ? r : watch_file(pod, CGROUP_VCPU, &pod->vcpu_partition_source, err);
}

int exclusive_watch(struct pod *pod, struct err *err)
{
	int r;

	if (!pod->plan || !pod->plan->dedicated_cpus)
		return 0;
	exclusive_unwatch(pod);
	r = watch_writes(pod, err);
	if (r == 0)
		r = watch_state(pod, err);
	if (r == 0)
		exclusive_check(pod);
	return r;
}

void exclusive_unwatch(struct pod *pod)
{
	unwatch_state(pod);
	for (size_t i = 0; i < ARRAY_SIZE(pod->partition_writes); i++)
		pod->partition_writes[i] = sd_event_source_disable_unref(pod->partition_writes[i]);
	pod->exclusive_retry = sd_event_source_disable_unref(pod->exclusive_retry);
}
