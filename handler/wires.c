// SPDX-License-Identifier: Apache-2.0
#include "handler/wires.h"

#include "handler/podevents.h"
#include "handler/status.h"
#include "handler/verify.h"

#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"
#include "net/netns.h"
#include "net/read.h"
#include "net/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#define CONDITION "virtpod.io/Network"

/* Changes come in bursts, and a look reads all links: this bounds what a host's other work can cost. */
#define LOOK_USEC (200 * 1000ull)

bool wires_pinned(const struct pod *pod, pid_t pid)
{
	_cleanup_fd_ int dir = openat(pod->h->paths.run_fd, "netns",
				      O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			 pin = -1;
	struct stat pinned, its;
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%d/ns/net", pid);
	return dir >= 0 && netns_open(dir, pod->record.uid, &pin, NULL) == 0 &&
	       fstat(pin, &pinned) == 0 && stat(path, &its) == 0 && pinned.st_dev == its.st_dev &&
	       pinned.st_ino == its.st_ino;
}

/* As much of inspect's report as the checks of the network look at; the namespace is QEMU's own. */
static int read_pod(const struct pod *pod, const json_t *host, json_t **ret, struct err *err)
{
	_cleanup_fd_ int netns = -1;
	json_t *links;
	char path[64];
	int r;

	(void)snprintf(path, sizeof path, "/proc/%d/ns/net", pod->qemu_pid);
	netns = open(path, O_RDONLY | O_CLOEXEC);
	if (netns < 0)
		return err_errno(err, -errno, "%s", path);
	r = net_read_links(netns, &links, err);
	if (r < 0)
		return r;
	*ret = json_pack("{s:{s:o, s:O}, s:b}", "links", "pod", links, "host", host, "netnsPinned",
			 wires_pinned(pod, pod->qemu_pid));
	return 0;
}

/* One line of all that differs. */
static void join(const json_t *differences, char *ret, size_t size)
{
	const json_t *d;
	size_t i, at = 0;

	json_array_foreach (differences, i, d)
		if (at < size)
			at += (size_t)snprintf(ret + at, size - at, "%s%s", i ? "; " : "",
					       json_str(d, "text"));
}

static void tell(struct pod *pod, const json_t *differences)
{
	const json_t *said = status_condition(pod->status, CONDITION);
	char text[ERR_MSG_MAX] = "";

	join(differences, text, sizeof text);
	if (str_eq(json_str(said, "message"), *text ? text : NULL))
		return;
	if (*text) {
		log_warning("%s/%s: its network is not as it was made: %s", pod->record.ns,
			    pod->record.name, text);
		status_set_condition(pod->status, CONDITION, "False", "LinksChanged", text);
		pod_event_warning(pod, "LinksChanged", text);
	} else {
		log_info("%s/%s: its network is as it was made again", pod->record.ns,
			 pod->record.name);
		status_remove_condition(pod->status, CONDITION);
		pod_event(pod, "Network", "its network is as it was made again");
	}
	pod_publish(pod);
}

static bool has_wires(const struct pod *pod)
{
	return pod->plan && pod->plan->isolation.net && pod->qemu_source &&
	       (pod->state == POD_RUNNING || pod->state == POD_STOPPING);
}

static void look(struct pod *pod, const json_t *host)
{
	struct verify_promise p = {.plan = pod->plan, .host_id = pod->record.host_id};
	_cleanup_json_ json_t *seen = NULL, *differences = NULL;
	struct err err = {0};
	int r = read_pod(pod, host, &seen, &err);

	if (r == -ENOENT || r == -ESRCH)
		return; /* QEMU is ending: its pidfd tells */
	if (r < 0) {
		log_error("%s/%s: %s", pod->record.ns, pod->record.name, err.msg);
		return;
	}
	for (unsigned i = 0; i < pod->plan->n_nics; i++)
		link_names(&pod->h->paths, pod->record.uid, &pod->plan->nics[i], &p.links[i]);
	differences = verify_network(&p, seen);
	tell(pod, differences);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	_cleanup_json_ json_t *host = NULL;
	struct handler *h = userdata;
	struct err err = {0};

	(void)source;
	(void)usec;
	if (net_list_ours(h->paths.tag, &host, &err) < 0) {
		log_error("%s", err.msg);
		return 0;
	}
	for (struct pod *p = h->pods; p; p = p->next)
		if (has_wires(p))
			look(p, host);
	return 0;
}

static void look_soon(struct handler *h)
{
	int armed = SD_EVENT_OFF, r = 0;

	if (!h->wires_timer) /* a root that is only cleaned has none */
		return;
	(void)sd_event_source_get_enabled(h->wires_timer, &armed);
	if (armed == SD_EVENT_OFF) {
		r = sd_event_source_set_time_relative(h->wires_timer, LOOK_USEC);
		if (r >= 0)
			r = sd_event_source_set_enabled(h->wires_timer, SD_EVENT_ONESHOT);
	}
	if (r < 0)
		log_error("timer: %s", strerror(-r));
}

static int on_links(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	(void)source;
	(void)revents;
	net_watch_drain(fd);
	look_soon(userdata);
	return 0;
}

/* Polling that file is what tells of the next change. */
static int on_mounts(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	(void)source;
	(void)fd;
	(void)revents;
	look_soon(userdata);
	return 0;
}

static int listen_on(struct handler *h, int fd_consume, uint32_t events,
		     sd_event_io_handler_t handler, sd_event_source **ret, struct err *err)
{
	int r = sd_event_add_io(h->event, ret, fd_consume, events, handler, h);

	if (r < 0) {
		(void)fd_close(fd_consume);
		return err_errno(err, r, "watch links");
	}
	(void)sd_event_source_set_io_fd_own(*ret, true);
	(void)sd_event_source_set_description(*ret, "links");
	return 0;
}

int wires_open(struct handler *h, struct err *err)
{
	int links, mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	int r = mounts < 0 ? err_errno(err, -errno, "/proc/self/mountinfo") : 0;

	if (r == 0)
		r = listen_on(h, mounts, EPOLLPRI, on_mounts, &h->wires_mounts, err);
	if (r == 0)
		r = net_watch_open(-1, &links, err);
	if (r == 0)
		r = listen_on(h, links, EPOLLIN, on_links, &h->wires_host, err);
	if (r < 0)
		return r;
	r = sd_event_add_time_relative(h->event, &h->wires_timer, CLOCK_MONOTONIC, LOOK_USEC,
				       /* accuracy= */ 10000, on_timer, h);
	return r < 0 ? err_errno(err, r, "timer") : 0;
}

void wires_close(struct handler *h)
{
	h->wires_timer = sd_event_source_disable_unref(h->wires_timer);
	h->wires_host = sd_event_source_disable_unref(h->wires_host);
	h->wires_mounts = sd_event_source_disable_unref(h->wires_mounts);
}

void wires_watch(struct pod *pod)
{
	_cleanup_fd_ int netns = -1;
	struct err err = {0};
	char path[64];
	int fd, r;

	pod->wires_source = sd_event_source_disable_unref(pod->wires_source);
	if (!has_wires(pod))
		return;
	(void)snprintf(path, sizeof path, "/proc/%d/ns/net", pod->qemu_pid);
	netns = open(path, O_RDONLY | O_CLOEXEC);
	if (netns < 0) /* QEMU has ended already */
		return;
	r = net_watch_open(netns, &fd, &err);
	if (r == 0)
		r = listen_on(pod->h, fd, EPOLLIN, on_links, &pod->wires_source, &err);
	if (r < 0)
		log_error("%s/%s: %s", pod->record.ns, pod->record.name, err.msg);
	look_soon(pod->h); /* at what has happened until now */
}

void wires_unwatch(struct pod *pod)
{
	pod->wires_source = sd_event_source_disable_unref(pod->wires_source);
	status_remove_condition(pod->status, CONDITION);
}
