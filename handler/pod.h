// SPDX-License-Identifier: Apache-2.0
/*
 * One pod: everything that this handler holds for one run of a VM, from the first step of its start
 * to the last of its end. The steps are one visible array (handler/steps.c); here is the walk: forward
 * to start, backward to stop or to fail, one step at a time, each waiting in the event loop when it
 * has to. Before a step begins its number is in the runtime store: after kill -9 the next handler
 * undoes that step and all before it, by names and numbers alone, without this struct's memory.
 */
#pragma once

#include "handler/handler.h"

#include "api/outcome.h"
#include "api/plan.h"
#include "cpu/allocator.h"
#include "lib/err.h"
#include "lib/logfile.h"

#include <jansson.h>

enum pod_state {
	POD_STARTING,
	POD_RUNNING,
	POD_STOPPING, /* asked to end; QEMU still runs */
	POD_UNDOING,  /* walking backward */
};

struct pod_fd {
	char name[96]; /* as the wire's "start" names it */
	int fd;	       /* owned until handed over */
};

struct pod {
	struct pod *next;
	struct handler *h;	 /* borrowed */
	struct store_pod record; /* uid, ns, name, step, ids, pid: what the runtime store has */
	json_t *vmi;		 /* the object, without status; owned */
	json_t *status;		 /* owned; published by pod_publish */
	struct plan *plan;

	enum pod_state state;
	struct err failure;	/* why a start failed */
	bool refused;		/* the host can't have it now: the VMI stays pending */
	uint32_t grace_seconds; /* as the last request to stop said; the plan's before */
	uint64_t step_began;	/* CLOCK_MONOTONIC, microseconds */
	uint64_t start_began;
	json_t *timing; /* {"step": microseconds} in order of the walk */

	struct cpu_assignment cpus;
	int dir_fd; /* run/pods/UID, a small tmpfs of its own */
	int netns_fd;
	struct pod_fd *fds;
	unsigned n_fds;

	int pidfd;
	sd_event_source *exit_source;
	sd_event_source *qemu_source; /* QEMU's own end, by a pidfd that it owns */
	sd_event_source *stop_timer;  /* when the launcher itself must be killed */
	sd_event_source
		*retry_timer; /* step cpus waits for other roots; an undo for what resists */
	unsigned retries;
	sd_event_source *log_source;
	struct logfile log;  /* launcher.log in its directory (handler/podlog.h) */
	char log_part[1024]; /* of a line that is not whole yet */
	size_t log_part_len;
	unsigned log_lines; /* of it that are in the handler's own log, too */
	sd_event_source *partition_source, *vcpu_partition_source; /* handler/exclusive.c */
	sd_event_source *partition_writes[CGROUP_PARTITION_FOLDERS];
	sd_event_source *exclusive_retry;
	sd_event_source *wires_source; /* links in its namespace (handler/wires.h) */
	bool reconnected;	       /* the channel broke once, without cause */
	struct channel *channel;       /* to the launcher */
	/* what the waiting step does with the launcher's reply; NULL: nothing more */
	int (*step_reply)(struct pod *pod, const json_t *reply, struct err *err);
	struct outcome outcome;
	json_t *qmp;			 /* QEMU's last answer (handler/podrefresh.h); NULL: none */
	pid_t qemu_pid;			 /* host's number, checked */
	pid_t vcpu_tids[PLAN_MAX_VCPUS]; /* host's numbers, checked */
};

#define STEP_WAIT 1 /* a step's answer: pod_step_done will be called */

struct pod_step {
	const char *name;
	int (*run)(struct pod *pod, struct err *err);  /* 0, STEP_WAIT or negative */
	int (*undo)(struct pod *pod, struct err *err); /* idempotent; also for a half-done step */
};

extern const struct pod_step pod_steps[];
extern const int pod_n_steps;
int pod_step_index(const char *name);

/* A pod for this VMI, not started; it is in h->pods. Takes its own references. */
struct pod *pod_new(struct handler *h, const json_t *vmi, const json_t *status);
struct pod *pod_find(struct handler *h, const char *uid);

/* The pod of this name whose guest runs and whose launcher can be talked to; NULL: none. */
struct pod *pod_find_running(struct handler *h, const char *ns, const char *name);
void pod_free(struct pod *pod); /* out of the list, every fd closed; undoes nothing */

void pod_start(struct pod *pod); /* walk forward from the first step */
void pod_step_done(struct pod *pod, int r, const struct err *err); /* a waiting step has ended */
void pod_fail(struct pod *pod, const struct err *err); /* whatever it does: undo it all */
void pod_end(struct pod *pod);			       /* its PID 1 has gone: undo it all */
void pod_shutdown(struct pod *pod, uint32_t grace_seconds);

/* Give a descriptor to the pod for "start"; consumed also on failure. */
void pod_add_fd(struct pod *pod, int fd_consume, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

void pod_set_phase(struct pod *pod, const char *phase);
void pod_publish(struct pod *pod); /* status to the store and to the watchers */
