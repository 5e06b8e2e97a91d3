// SPDX-License-Identifier: Apache-2.0
/* The launcher's state, shared by the files that each hold one concern of its main flow. */
#pragma once

#include "api/plan.h"
#include "launcher/console.h"
#include "launcher/ending.h"
#include "launcher/fds.h"
#include "launcher/forward.h"
#include "launcher/peer.h"
#include "launcher/qemu.h"
#include "launcher/qmp.h"
#include "launcher/shutdown.h"
#include "launcher/tail.h"

#define QMP_TIMEOUT_US 10000000ull /* for one command; QEMU's main loop answers in milliseconds */
#define START_TIMEOUT_US                                                                           \
	60000000ull /* greeting: allocating a large guest's memory comes before it */

enum stage {
	STAGE_FRESH,	/* outside the boundary */
	STAGE_ENTERED,	/* inside, no QEMU yet */
	STAGE_STARTING, /* QEMU is there, its threads are not known yet */
	STAGE_PAUSED,	/* started, never continued */
	STAGE_RUNNING,	/* continued once; what the guest does now is QMP's to say */
};

struct launcher {
	sd_event *event;
	struct peer *peer;
	enum stage stage;
	enum sandbox_seccomp seccomp;
	struct plan *plan;
	int outcome_fd;

	struct qemu_child qemu;
	struct qmp *qmp;
	struct console *console;
	sd_event_source *output; /* QEMU's stdout and stderr */
	struct logfile output_log;
	struct tail words;
	struct ending ending;

	struct reply_to start_to; /* while STAGE_STARTING */
	uint64_t start_deadline;
	sd_event_source *threads_timer; /* asks again while vCPU threads are missing */
	json_t *vcpus, *iothreads;	/* thread ids, in the pod's numbers */

	struct shutdown shutdown;
	sd_event_source *shutdown_timer;
	struct forward *forward; /* events on their way to the handler */
};

uint64_t launcher_now(const struct launcher *l); /* CLOCK_MONOTONIC, microseconds */

/* enter.c: on failure the reply is sent and the process ends. */
void enter_request(struct launcher *l, const struct reply_to *to, const json_t *msg,
		   struct named_fds *fds);

/* start.c */
void start_request(struct launcher *l, const struct reply_to *to, const json_t *msg,
		   struct named_fds *fds);
void start_failed(struct launcher *l,
		  const char *why);	       /* QEMU is of no use: kill it, remember why */
void start_ready(struct launcher *l);	       /* QMP takes commands now */
json_t *start_reply(const struct launcher *l); /* qemuPid, vcpus, iothreads; the caller's */

/* command.c: everything from the handler comes in here. */
void command_request(void *arg, const char *name, const struct reply_to *to, const json_t *msg,
		     const int *fds, size_t n_fds);

/* stop.c */
int stop_init(struct launcher *l); /* timer, and SIGTERM: a host that shuts down */
/* Without a QEMU it ends the launcher; a guest that never ran, or has no ACPI, gets no grace. */
void stop_begin(struct launcher *l, uint64_t grace_seconds);
void stop_kill(struct launcher *l);
void stop_expect_exit(struct launcher *l); /* QMP is gone, so QEMU should be soon */

/* reap.c: children, and what follows from QEMU's end */
int reap_init(struct launcher *l);

/* monitor.c: what QEMU says by itself, over QMP and on its standard output. */
int monitor_open(struct launcher *l, int qmp_fd_consume, struct err *err);
int output_open(struct launcher *l, struct err *err);
void output_read(struct launcher *l); /* all that is there now */
