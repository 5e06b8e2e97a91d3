// SPDX-License-Identifier: Apache-2.0
/*
 * "start": plan and descriptors into a QEMU that has made its machine and its threads, and has not run
 * one guest instruction. The reply comes when QEMU has named the threads; whatever goes wrong after
 * the fork is answered when QEMU's end has been seen, with its own words (reap.c).
 */
#include "launcher/internal.h"

#include "api/wire.h"
#include "launcher/args.h"
#include "launcher/disks.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/stop.h"
#include "lib/util.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>

#define THREADS_RETRY_US 20000

static void args_freep(char ***v)
{
	args_free(*v);
}

void start_failed(struct launcher *l, const char *why)
{
	if (!l->ending.failure[0])
		(void)snprintf(l->ending.failure, sizeof l->ending.failure, "%.249s", why);
	stop_kill(l);
}

/* ---- the threads: query-cpus-fast, query-iothreads ---- */

/* List of "thread-id"s; NULL if QEMU's answer has another shape or too many of them. */
static json_t *thread_ids(const json_t *answer, size_t max)
{
	json_t *ids = json_array();
	const json_t *v;
	size_t i;

	json_array_foreach (answer, i, v) {
		json_int_t id = json_integer_value(json_object_get(v, "thread-id"));

		if (id <= 0 || i >= max)
			break;
		(void)json_array_append_new(ids, json_integer(id));
	}
	if (json_is_array(answer) && i == json_array_size(answer))
		return ids;
	json_decref(ids);
	return NULL;
}

json_t *start_reply(const struct launcher *l)
{
	json_t *o = json_pack("{s:i}", "qemuPid", (int)l->qemu.pid);

	if (l->vcpus)
		(void)json_object_set(o, "vcpus", l->vcpus);
	if (l->iothreads)
		(void)json_object_set(o, "iothreads", l->iothreads);
	return o;
}

static void on_iothreads(void *arg, int r, const json_t *result, const char *error)
{
	struct launcher *l = arg;
	json_t *ids = r == 0 ? thread_ids(result, PLAN_MAX_VCPUS) : NULL;

	if (r == -ECONNRESET)
		return; /* QEMU is ending, with a better reason than this */
	if (!ids) {
		start_failed(l, error ? error : "QMP: query-iothreads: unexpected answer");
		return;
	}
	l->iothreads = ids;
	l->stage = STAGE_PAUSED;
	l->ending.started = true;
	stop_at("launcher-started");
	peer_reply(l->peer, &l->start_to, start_reply(l));
}

static void ask(struct launcher *l, const char *command, qmp_reply_fn fn)
{
	if (qmp_call(l->qmp, command, NULL, QMP_TIMEOUT_US, fn, l) == -ENOBUFS)
		start_failed(l, "QMP: QEMU does not read its commands");
}

static void on_cpus(void *arg, int r, const json_t *result, const char *error)
{
	struct launcher *l = arg;
	unsigned want = plan_vcpus(l->plan);
	json_t *ids = r == 0 ? thread_ids(result, want) : NULL;

	if (r == -ECONNRESET)
		return;
	if (!ids) {
		start_failed(l, error ? error : "QMP: query-cpus-fast: unexpected answer");
		return;
	}
	if (json_array_size(ids) < want && launcher_now(l) < l->start_deadline) {
		json_decref(ids);
		(void)sd_event_source_set_time_relative(l->threads_timer, THREADS_RETRY_US);
		(void)sd_event_source_set_enabled(l->threads_timer, SD_EVENT_ONESHOT);
		return;
	}
	if (json_array_size(ids) < want) {
		json_decref(ids);
		start_failed(l, "QMP: query-cpus-fast: vCPU threads are missing");
		return;
	}
	l->vcpus = ids;
	ask(l, "query-iothreads", on_iothreads);
}

static int on_threads_timer(sd_event_source *s, uint64_t usec, void *arg)
{
	(void)s;
	(void)usec;
	ask(arg, "query-cpus-fast", on_cpus);
	return 0;
}

void start_ready(struct launcher *l)
{
	ask(l, "query-cpus-fast", on_cpus);
}

/* ---- the process ---- */

/* A log that the handler gave, or none. */
static int open_log(struct named_fds *fds, const char *name, uint64_t max, struct logfile *ret,
		    struct err *err)
{
	int fd = named_fds_take(fds, name), r;

	if (fd < 0)
		return 0;
	r = logfile_open(fd, max, ret);
	if (r == -EINVAL)
		return err_set(err, r, "%s: want a regular file open for reading and writing",
			       name);
	return r < 0 ? err_errno(err, r, "%s", name) : 0;
}

static int open_console(struct launcher *l, struct named_fds *fds, int *ret_serial, struct err *err)
{
	struct logfile log = {.fd = -1};
	int sv[2];
	int r = open_log(fds, "consoleLog", WIRE_CONSOLE_LOG_MAX, &log, err);

	if (r == 0 && l->plan->serial_console) {
		r = sock_pair(SOCK_STREAM, sv);
		if (r < 0)
			(void)err_errno(err, r, "console: socket pair");
		else
			*ret_serial = sv[1];
		if (r == 0)
			r = console_new(l->event, sv[0], &log, &l->console, err);
	}
	logfile_done(&log);
	return r;
}

/* Fork QEMU with exactly what its command line names. */
static int spawn(struct launcher *l, const char *qemu, const struct named_fds *fds,
		 const struct argv_fds *numbers, struct err *err)
{
	_cleanup_(args_freep) char **argv = NULL;
	int keep[SOCK_MAX_FDS + 2];
	size_t n = 0;
	int r = argv_build(l->plan, qemu, numbers, &argv, err);

	if (r < 0)
		return r;
	keep[n++] = numbers->qmp;
	keep[n++] = numbers->serial;
	for (size_t i = 0; i < fds->n; i++)
		keep[n++] = fds->fd[i];
	return qemu_start(argv, keep, n, l->seccomp, &l->qemu, err);
}

static int start(struct launcher *l, const char *qemu, struct named_fds *fds, struct err *err)
{
	_cleanup_fd_ int qmp = -1, qmp_theirs = -1, serial = -1;
	struct argv_fds numbers;
	int sv[2], r;

	named_fds_for_plan(fds, l->plan, &numbers);
	r = open_console(l, fds, &serial, err);
	if (r == 0)
		r = open_log(fds, "qemuLog", WIRE_QEMU_LOG_MAX, &l->output_log, err);
	if (r == 0)
		r = named_fds_check_used(fds, err);
	if (r == 0)
		r = disks_resolve(l->plan, &numbers, err);
	if (r < 0)
		return r;
	stop_at("launcher-start");
	r = sock_pair(SOCK_STREAM, sv);
	if (r < 0)
		return err_errno(err, r, "QMP: socket pair");
	qmp = sv[0];
	qmp_theirs = sv[1];
	numbers.qmp = qmp_theirs;
	numbers.serial = serial;
	r = spawn(l, qemu, fds, &numbers, err);
	if (r < 0)
		return r;
	/* from here on there is a QEMU: failures go through start_failed */
	r = output_open(l, err);
	return r < 0 ? r : monitor_open(l, TAKE_FD(qmp), err);
}

static int check_request(struct launcher *l, const json_t *msg, struct named_fds *fds,
			 struct err *err)
{
	const char *qemu = json_str(msg, "qemu");
	int r;

	if (l->stage == STAGE_FRESH)
		return err_set(err, -EPERM, "the pod has not been entered");
	if (l->stage != STAGE_ENTERED)
		return err_set(err, -EALREADY, "QEMU has been started already");
	if (!qemu || qemu[0] != '/')
		return err_set(err, -EINVAL, "qemu: want an absolute path");
	if (named_fds_find(fds, "outcome") < 0)
		return err_set(err, -EINVAL, "fds: want 'outcome'");
	r = plan_from_json(json_object_get(msg, "plan"), &l->plan, err);
	if (r < 0)
		return r;
	r = sd_event_add_time(l->event, &l->threads_timer, CLOCK_MONOTONIC, UINT64_MAX, 1,
			      on_threads_timer, l);
	if (r < 0)
		return err_errno(err, r, "event source");
	(void)sd_event_source_set_enabled(l->threads_timer, SD_EVENT_OFF);
	(void)sd_event_source_set_description(l->threads_timer, "vcpu-threads");
	return 0;
}

/* Back to STAGE_ENTERED, as if the request had not come. */
static void forget(struct launcher *l)
{
	console_free(TAKE_PTR(l->console));
	logfile_done(&l->output_log);
	plan_free(TAKE_PTR(l->plan));
	l->threads_timer = sd_event_source_disable_unref(l->threads_timer);
}

void start_request(struct launcher *l, const struct reply_to *to, const json_t *msg,
		   struct named_fds *fds)
{
	bool fresh = l->stage == STAGE_ENTERED;
	struct err err = {0};
	int outcome_fd = -1;
	int r = check_request(l, msg, fds, &err);

	if (r == 0) {
		outcome_fd = named_fds_take(fds, "outcome");
		r = start(l, json_str(msg, "qemu"), fds, &err);
	}
	if (fresh && l->qemu.pid) {
		l->stage = STAGE_STARTING;
		l->start_to = *to;
		l->start_deadline = launcher_now(l) + START_TIMEOUT_US;
		l->outcome_fd = outcome_fd;
		if (r < 0)
			start_failed(l, err.msg);
		return;
	}
	(void)fd_close(outcome_fd);
	if (fresh)
		forget(l);
	err_prefix(&err, "start");
	peer_refuse(l->peer, to, &err);
}
