// SPDX-License-Identifier: Apache-2.0
#include "handler/launcher.h"

#include "handler/channel.h"
#include "handler/podevents.h"

#include "lib/json.h"
#include "lib/log.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- exit ------------------------------------------------------------------------------------ */

/* An adopted launcher is not our child: then there is nothing to reap. */
static void reap(int pidfd)
{
	siginfo_t info;

	(void)waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG);
}

static void note_end(struct pod *pod, enum outcome_kind kind, const char *why)
{
	pod->outcome.kind = kind;
	(void)snprintf(pod->outcome.message, sizeof pod->outcome.message, "%s", why);
}

void launcher_read_outcome(struct pod *pod)
{
	_cleanup_fd_ int fd = openat(pod->dir_fd, "outcome", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct outcome said = {.kind = OUTCOME_NONE};
	struct err err = {0};

	if (fd >= 0 && outcome_read(fd, &said, &err) < 0)
		log_warning("%s/%s: %s, ignoring", pod->record.ns, pod->record.name, err.msg);
	if (said.kind != OUTCOME_NONE)
		pod->outcome = said;
	else if (pod->outcome.kind == OUTCOME_NONE && pod->state != POD_STARTING)
		note_end(pod, OUTCOME_CRASHED, "its launcher was killed");
}

/*
 * A guest that the kernel killed for its memory limit: QEMU and the launcher can't tell, the group's
 * counter can. Said before the groups go.
 */
static void note_oom(struct pod *pod)
{
	_cleanup_json_ json_t *state = NULL;
	struct outcome *o = &pod->outcome;

	if (o->kind == OUTCOME_SHUTDOWN || o->kind == OUTCOME_WATCHDOG ||
	    cgroup_pod_read(pod->h->cgroups, pod->record.uid, &state, NULL) < 0 ||
	    !json_u64(state, "events.oomKills", 0))
		return;
	o->kind = OUTCOME_CRASHED;
	(void)snprintf(o->message, sizeof o->message,
		       "killed by the kernel: the pod's memory limit of %llu MiB was reached",
		       pod->plan ? (unsigned long long)pod->plan->memory_limit >> 20 : 0);
}

static int on_exit_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct pod *pod = userdata;
	struct err err = {0};

	(void)source;
	(void)revents;
	reap(fd);
	launcher_read_outcome(pod);
	note_oom(pod);
	pod->exit_source = sd_event_source_disable_unref(pod->exit_source);
	pod->stop_timer = sd_event_source_disable_unref(pod->stop_timer);
	pod->qemu_source = sd_event_source_disable_unref(pod->qemu_source);
	pod->pidfd = fd_close(pod->pidfd);
	pod->record.pid = 0;
	channel_free(TAKE_PTR(pod->channel));
	switch (pod->state) {
	case POD_STARTING:
		(void)err_set(&err, -ECHILD, "the launcher ended: %s",
			      pod->outcome.message[0] ? pod->outcome.message : "without a word");
		pod_fail(pod, &err);
		break;
	case POD_RUNNING:
	case POD_STOPPING:
		log_info("%s/%s: ended: %s", pod->record.ns, pod->record.name,
			 outcome_name(pod->outcome.kind));
		pod_end(pod);
		break;
	case POD_UNDOING:
		pod_step_done(pod, 0, NULL);
		break;
	}
	return 0;
}

int launcher_watch_exit(struct pod *pod, struct err *err)
{
	int r = sd_event_add_io(pod->h->event, &pod->exit_source, pod->pidfd, EPOLLIN,
				on_exit_event, pod);

	if (r < 0)
		return err_errno(err, r, "watch the launcher");
	/* after its last words on the channel and the log */
	(void)sd_event_source_set_priority(pod->exit_source, SD_EVENT_PRIORITY_NORMAL + 10);
	(void)sd_event_source_set_description(pod->exit_source, "launcher exit");
	return 0;
}

void launcher_kill(struct pod *pod)
{
	if (pod->pidfd < 0)
		return;
	if (pidfd_send_signal(pod->pidfd, SIGKILL, NULL, 0) < 0 && errno != ESRCH)
		log_error("%s/%s: kill: %s", pod->record.ns, pod->record.name, strerror(errno));
}

/* --- channel --------------------------------------------------------------------------------- */

static void on_event(void *arg, const json_t *event)
{
	struct pod *pod = arg;
	const char *name = json_str(event, "name");

	if (name)
		log_debug("%s/%s: QMP event %.40s", pod->record.ns, pod->record.name, name);
	pod_event_qmp(pod, event);
}

/* A process that ends closes its descriptors a moment before its pidfd tells. */
#define EXIT_SECONDS 5

void launcher_kill_for(struct pod *pod, enum outcome_kind kind, const char *why)
{
	log_warning("%s/%s: %s: killing the pod", pod->record.ns, pod->record.name, why);
	if (pod->state != POD_STARTING)
		note_end(pod, kind, why);
	launcher_kill(pod);
}

static int on_silent(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct pod *pod = userdata;

	(void)source;
	(void)usec;
	launcher_kill_for(pod, OUTCOME_CRASHED, "the launcher lives but does not do its work");
	return 0;
}

/* The launcher should end now by itself; one that does not is ended. */
static void expect_exit(struct pod *pod)
{
	pod->stop_timer = sd_event_source_disable_unref(pod->stop_timer);
	if (sd_event_add_time_relative(pod->h->event, &pod->stop_timer, CLOCK_MONOTONIC,
				       EXIT_SECONDS * 1000000ull, /* accuracy= */ 0, on_silent,
				       pod) < 0)
		launcher_kill(pod);
}

static int on_qemu_exit(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct pod *pod = userdata;

	(void)source;
	(void)fd;
	(void)revents;
	pod->qemu_source = sd_event_source_disable_unref(pod->qemu_source);
	if (pod->state != POD_UNDOING)
		expect_exit(pod);
	return 0;
}

int launcher_watch_qemu(struct pod *pod, struct err *err)
{
	int fd = pidfd_open(pod->qemu_pid, 0), r;

	pod->qemu_source = sd_event_source_disable_unref(pod->qemu_source); /* asked anew */
	if (fd < 0)
		return err_errno(err, -errno, "watch QEMU (%d)", pod->qemu_pid);
	r = sd_event_add_io(pod->h->event, &pod->qemu_source, fd, EPOLLIN, on_qemu_exit, pod);
	if (r < 0) {
		(void)fd_close(fd);
		return err_errno(err, r, "watch QEMU (%d)", pod->qemu_pid);
	}
	(void)sd_event_source_set_io_fd_own(pod->qemu_source, true);
	(void)sd_event_source_set_description(pod->qemu_source, "QEMU exit");
	return 0;
}

static int reconnect(struct pod *pod, struct err *err)
{
	if (pod->reconnected)
		return err_set(err, -ECONNRESET, "the channel broke again");
	pod->reconnected = true;
	return launcher_connect(pod, err);
}

/*
 * The channel is gone: with the launcher, as a rule. One that lives is connected to once more, and no
 * oftener: it could go on for ever. One that broke the rules, or takes no connection, is ended.
 */
static void on_closed(void *arg, const struct err *why)
{
	struct pod *pod = arg;
	struct err err = {0};

	channel_free(TAKE_PTR(pod->channel));
	if (pod->pidfd < 0 || pod->state == POD_UNDOING)
		return;
	if (why->code == -EBADMSG) {
		launcher_kill_for(pod, OUTCOME_CRASHED, why->msg);
		return;
	}
	if (pod->state != POD_STARTING && reconnect(pod, &err) == 0)
		return;
	expect_exit(pod);
}

static const struct channel_ops ops = {.event = on_event, .closed = on_closed};

int launcher_set_channel(struct pod *pod, int fd_consume, struct err *err)
{
	return channel_new(pod->h->event, fd_consume, &ops, pod, &pod->channel, err);
}

int launcher_connect(struct pod *pod, struct err *err)
{
	int fd, r;

	r = sock_connect_at(pod->dir_fd, "launcher.sock", SOCK_SEQPACKET | SOCK_NONBLOCK, &fd);
	return r < 0 ? err_errno(err, r, "launcher.sock") : launcher_set_channel(pod, fd, err);
}

static void on_step_reply(void *arg, int r, const json_t *reply, const struct err *why)
{
	struct pod *pod = arg;
	struct err err = {0};

	if (r == -ECANCELED || pod->state != POD_STARTING)
		return; /* it failed otherwise meanwhile */
	if (r < 0)
		err = *why;
	else if (pod->step_reply)
		r = pod->step_reply(pod, reply, &err);
	pod_step_done(pod, r, &err);
}

int launcher_step_request(struct pod *pod, const char *name, json_t *fields_consume, const int *fds,
			  size_t n_fds, unsigned timeout_seconds,
			  int (*then)(struct pod *pod, const json_t *reply, struct err *err),
			  struct err *err)
{
	int r;

	pod->step_reply = then;
	r = channel_request(pod->channel, name, fields_consume, fds, n_fds, timeout_seconds,
			    on_step_reply, pod, err);
	return r < 0 ? r : STEP_WAIT;
}
