// SPDX-License-Identifier: Apache-2.0
/* The handler's side for tests: a launcher in a child process, requests, replies, events. */
#pragma once

#include "tests/unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/outcome.h"
#include "api/wire.h"
#include "launcher/launcher.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/sock.h"
#include "sandbox/layers.h"
#include "tests/unit/launcher/plan_fixture.h"

struct pod {
	pid_t pid;
	int channel;
	int dirfd;
	char dir[64];
	json_int_t id;
	json_t *events; /* names of QMP events, in order */
	int outcome;
	char qemu[4096];
};

static inline void pod_receive_limit(int fd)
{
	struct timeval tv = {.tv_sec = 60};

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv), 0);
}

static inline void pod_open(struct pod *p, const char *qemu)
{
	int sv[2], listener;

	*p = (struct pod){.dir = "/var/tmp/virtpod-test-XXXXXX", .events = json_array()};
	if (qemu)
		(void)snprintf(p->qemu, sizeof p->qemu, "%s", qemu);
	else
		assert_true(readlink("/proc/self/exe", p->qemu, sizeof p->qemu - 1) > 0);
	assert_non_null(mkdtemp(p->dir));
	p->dirfd = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(sock_listen_at(p->dirfd, "launcher", SOCK_SEQPACKET, &listener), 0);
	assert_int_equal(sock_pair(SOCK_SEQPACKET, sv), 0);
	p->outcome = openat(p->dirfd, "outcome", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (p->pid == 0) {
		struct err err = {0};

		(void)close(sv[0]);
		(void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans come here, as to a PID 1 */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		log_open("launcher", LOG_LEVEL_ERROR);
		/* exit, not _exit: with sanitizers its memory is checked for leaks */
		exit(launcher_run(sv[1], listener, &err) < 0 ? 1 : 0);
	}
	(void)close(sv[1]);
	(void)close(listener);
	p->channel = sv[0];
	pod_receive_limit(p->channel);
}

static inline void pod_note_event(struct pod *p, const json_t *msg)
{
	(void)json_array_append_new(p->events, json_string(json_str(msg, "name")));
}

/* Send a request; `fields` is consumed. */
static inline void pod_send(struct pod *p, const char *name, json_t *fields, const int *fds,
			    size_t n_fds)
{
	_cleanup_json_ json_t *msg = fields ? fields : json_object();
	struct err err = {0};

	(void)json_object_set_new(msg, "request", json_string(name));
	(void)json_object_set_new(msg, "id", json_integer(++p->id));
	assert_int_equal(wire_send(p->channel, msg, fds, n_fds, &err), 0);
}

/* The reply to the last request; events on the way are noted. NULL: closed. */
static inline json_t *pod_reply(struct pod *p)
{
	struct err err = {0};

	for (;;) {
		json_t *reply = NULL;
		size_t n = 0;
		int r = wire_recv(p->channel, &reply, NULL, 0, &n, &err);

		if (r <= 0) {
			assert_string_equal(err.msg, "");
			return NULL;
		}
		if (json_integer_value(json_object_get(reply, "id")) == p->id)
			return reply;
		if (!str_eq(json_str(reply, "event"), "qmp"))
			fail_msg("a frame that belongs to no request of ours");
		pod_note_event(p, reply);
		json_decref(reply);
	}
}

static inline json_t *pod_call(struct pod *p, const char *name, json_t *fields, const int *fds,
			       size_t n_fds)
{
	pod_send(p, name, fields, fds, n_fds);
	return pod_reply(p);
}

static inline void pod_ok(struct pod *p, const char *name, json_t *fields, const int *fds,
			  size_t n_fds)
{
	_cleanup_json_ json_t *reply = pod_call(p, name, fields, fds, n_fds);

	assert_non_null(reply);
	if (!json_flag(reply, "ok", false))
		fail_msg("%s: %s", name, json_str(reply, "error"));
}

/* The request must fail with `part` in its message. */
static inline void pod_refused(struct pod *p, const char *name, json_t *fields, const int *fds,
			       size_t n_fds, const char *part)
{
	_cleanup_json_ json_t *reply = pod_call(p, name, fields, fds, n_fds);

	assert_non_null(reply);
	assert_false(json_flag(reply, "ok", true));
	if (!strstr(json_str(reply, "error"), part))
		fail_msg("'%s' is not in: %s", part, json_str(reply, "error"));
}

static inline json_t *pod_enter_fields(const struct pod *p)
{
	struct sandbox_layers none = {.seccomp = SANDBOX_SECCOMP_OFF};
	json_t *layers = sandbox_layers_to_json(&none);

	return json_pack("{s:s, s:o, s:s, s:s}", "version", VIRTPOD_VERSION, "sandbox", layers,
			 "hostname", "demo", "qemu", p->qemu);
}

static inline void pod_enter(struct pod *p)
{
	pod_ok(p, "enter", pod_enter_fields(p), NULL, 0);
}

/* Send "start" with the outcome file and a console log beside the given ones; eats the plan. */
static inline void pod_send_start(struct pod *p, struct plan *plan, const char *const *names,
				  const int *more, size_t n_more)
{
	json_t *list = json_pack("[s, s]", "outcome", "consoleLog");
	int fds[32] = {p->outcome};

	fds[1] = openat(p->dirfd, "console.log", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	for (size_t i = 0; i < n_more; i++) {
		(void)json_array_append_new(list, json_string(names[i]));
		fds[2 + i] = more[i];
	}
	pod_send(p, "start",
		 json_pack("{s:o, s:s, s:o}", "plan", plan_to_json(plan), "qemu", p->qemu, "fds",
			   list),
		 fds, 2 + n_more);
	(void)close(fds[1]);
	plan_free(plan);
}

static inline json_t *pod_start(struct pod *p, struct plan *plan, const char *const *names,
				const int *more, size_t n_more)
{
	pod_send_start(p, plan, names, more, n_more);
	return pod_reply(p);
}

static inline void pod_start_ok(struct pod *p, struct plan *plan)
{
	_cleanup_json_ json_t *reply = pod_start(p, plan, NULL, NULL, 0);

	assert_non_null(reply);
	if (!json_flag(reply, "ok", false))
		fail_msg("start: %s", json_str(reply, "error"));
}

/* Read events until the launcher is gone; its exit status, and the outcome that it left. */
static inline int pod_end(struct pod *p, struct outcome *ret)
{
	struct err err = {0};
	int status;

	for (;;) {
		json_t *msg = NULL;
		size_t n = 0;
		int r = p->channel < 0 ? 0 : wire_recv(p->channel, &msg, NULL, 0, &n, &err);

		if (r <= 0)
			break;
		pod_note_event(p, msg);
		json_decref(msg);
	}
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	assert_true(WIFEXITED(status));
	if (ret)
		assert_int_equal(outcome_read(p->outcome, ret, &err), 0);
	p->pid = 0;
	return WEXITSTATUS(status);
}

static inline bool pod_saw(const struct pod *p, const char *event)
{
	const json_t *v;
	size_t i;

	json_array_foreach (p->events, i, v)
		if (str_eq(json_string_value(v), event))
			return true;
	return false;
}

static inline void pod_close(struct pod *p)
{
	if (p->pid > 0) {
		(void)kill(p->pid, SIGKILL);
		(void)waitpid(p->pid, NULL, 0);
	}
	(void)fd_close(p->channel);
	(void)fd_close(p->outcome);
	(void)fd_close(p->dirfd);
	json_decref(p->events);
	(void)rm_rf_at(AT_FDCWD, p->dir);
}

static inline uint64_t pod_now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}
