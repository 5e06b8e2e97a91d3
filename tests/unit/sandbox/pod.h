// SPDX-License-Identifier: Apache-2.0
/*
 * A pod for tests: the test program itself, executed again inside it with the argument "payload". It
 * talks JSON frames over descriptor 3: first "enter" (its reply is the outcome of sandbox_enter),
 * then whatever the including test handles in payload_request.
 */
#pragma once

#include "tests/unit/unit.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/sock.h"
#include "lib/util.h"
#include "sandbox/dev.h"
#include "sandbox/enter.h"
#include "sandbox/read.h"
#include "sandbox/spawn.h"
#include "sandbox/syscalls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define POD_UID	 200107
#define POD_GID	 200108
#define POD_QEMU "/usr/bin/qemu-system-x86_64"
#define FRAME	 (256 * 1024)

static inline void frame_send(int sock, json_t *json_consume, const int *fds, size_t n)
{
	_cleanup_free_ char *text = json_dumps(json_consume, JSON_COMPACT);

	json_decref(json_consume);
	assert_non_null(text);
	assert_int_equal(sock_send(sock, text, strlen(text), fds, n), 0);
}

/* NULL when the peer is gone. */
static inline json_t *frame_recv(int sock, int *ret_fd)
{
	static char buf[FRAME];
	int fd = -1;
	size_t n_fds = 0;
	ssize_t n = sock_recv(sock, buf, sizeof buf, &fd, 1, &n_fds);

	if (n <= 0)
		return NULL;
	*ret_fd = fd;
	return json_loadb(buf, (size_t)n, 0, NULL);
}

/* --- inside ----------------------------------------------------------------------------------- */

static json_t *payload_request(const json_t *request); /* of the test; NULL: unknown */

static inline int payload_enter(const json_t *request, int dev_fd, struct err *err)
{
	struct sandbox_bind binds[SANDBOX_MAX_BINDS];
	struct sandbox_enter enter = {
		.hostname = "pod-under-test", .dev_fd = dev_fd, .binds = binds, .nofile = 777};
	const char *other = json_string_value(json_object_get(request, "qemu"));
	int r = sandbox_binds_for_qemu(other ? other : POD_QEMU, binds, &enter.n_binds, err);

	if (!r)
		r = sandbox_layers_from_json(json_object_get(request, "layers"), &enter.layers,
					     err);
	return r ? r : sandbox_enter(&enter, err);
}

static inline int payload(void)
{
	json_t *request;
	int fd = -1;

	while ((request = frame_recv(3, &fd))) {
		struct err err = {0};
		json_t *reply = NULL;

		if (json_object_get(request, "layers")) {
			int r = payload_enter(request, fd, &err);

			fd = fd_close(fd);
			reply = json_pack("{s:i, s:s}", "code", r, "message", err.msg);
		} else {
			reply = payload_request(request);
		}
		json_decref(request);
		if (!reply)
			break;
		frame_send(3, reply, NULL, 0);
	}
	_exit(0); /* no leak check: it would want to ptrace */
}

/* --- outside ---------------------------------------------------------------------------------- */

struct pod {
	pid_t pid;
	int pidfd, sock;
};

static inline int netns_new(void)
{
	_cleanup_fd_ int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int fd;

	assert_int_equal(unshare(CLONE_NEWNET), 0);
	fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	assert_int_equal(setns(own, CLONE_NEWNET), 0);
	return fd;
}

/* A spawn with everything in it; the caller may change it before pod_start. */
static inline struct sandbox_spawn pod_spawn(struct sandbox_layers layers)
{
	static char name[] = "pod", arg[] = "payload";
	static char *argv[] = {name, arg, NULL};

	return (struct sandbox_spawn){
		.layers = layers,
		.uid = POD_UID,
		.gid = POD_GID,
		.netns_fd = layers.net ? netns_new() : -1,
		.cgroup_fd = -1,
		.exec_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
		.argv = argv,
		.stderr_fd = 2,
	};
}

/* Consumes spawn's exec_fd and netns_fd. */
static inline int pod_start(struct sandbox_spawn *spawn, struct pod *ret, struct err *err)
{
	int pair[2], r;

	assert_int_equal(sock_pair(SOCK_SEQPACKET, pair), 0);
	spawn->fds = &pair[1];
	spawn->n_fds = 1;
	r = sandbox_spawn(spawn, &ret->pid, &ret->pidfd, err);
	(void)fd_close(pair[1]);
	(void)fd_close(spawn->exec_fd);
	(void)fd_close(spawn->netns_fd);
	ret->sock = pair[0];
	if (r < 0)
		ret->sock = fd_close(ret->sock);
	return r;
}

/* Never leaves the pod behind, whatever state it is in. */
static inline void pod_end(struct pod *pod)
{
	siginfo_t info;

	if (pod->pidfd < 0)
		return;
	(void)sys_pidfd_kill(pod->pidfd);
	(void)waitid(P_PIDFD, (id_t)pod->pidfd, &info, WEXITED);
	pod->pidfd = fd_close(pod->pidfd);
	pod->sock = fd_close(pod->sock);
}

static inline json_t *pod_ask(struct pod *pod, json_t *request_consume)
{
	json_t *reply;
	int fd;

	frame_send(pod->sock, request_consume, NULL, 0);
	reply = frame_recv(pod->sock, &fd);
	assert_non_null(reply);
	return reply;
}

/* qemu: another path to bind, or NULL. message: at least ERR_MSG_MAX. */
static inline int pod_enter_with(struct pod *pod, const struct sandbox_layers *layers,
				 const char *qemu, char *message)
{
	static const struct sandbox_node kvm = {"kvm", 10, 232};
	_cleanup_json_ json_t *reply = NULL;
	_cleanup_fd_ int dev = -1;
	struct err err = {0};
	int fd;

	assert_int_equal(sandbox_dev_create(POD_UID, POD_GID, &kvm, 1, &dev, &err), 0);
	frame_send(pod->sock,
		   json_pack("{s:o, s:s*}", "layers", sandbox_layers_to_json(layers), "qemu", qemu),
		   &dev, 1);
	reply = frame_recv(pod->sock, &fd);
	assert_non_null(reply);
	(void)snprintf(message, ERR_MSG_MAX, "%s",
		       json_string_value(json_object_get(reply, "message")));
	return (int)json_integer_value(json_object_get(reply, "code"));
}

static inline int pod_enter(struct pod *pod, const struct sandbox_layers *layers, char *message)
{
	return pod_enter_with(pod, layers, NULL, message);
}

/* Spawned and entered, or the test fails. */
static inline void pod_up(struct pod *pod, struct sandbox_layers layers)
{
	struct sandbox_spawn spawn = pod_spawn(layers);
	char message[ERR_MSG_MAX] = "";
	struct err err = {0};

	if (pod_start(&spawn, pod, &err) < 0)
		fail_msg("%s", err.msg);
	if (pod_enter(pod, &layers, message) < 0) {
		pod_end(pod);
		fail_msg("%s", message);
	}
}
