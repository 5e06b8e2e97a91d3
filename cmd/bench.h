// SPDX-License-Identifier: Apache-2.0
/*
 * `virtpod bench`: a root and a handler of its own, the measurements one file each, and one struct
 * that they share. Times are CLOCK_MONOTONIC in microseconds; nothing here judges them.
 */
#pragma once

#include "cmd/bench_samples.h"
#include "cmd/client.h"
#include "cmd/manifest.h"

#include "api/config.h"
#include "api/plan.h"
#include "handler/handler.h"

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define BENCH_STEPS_MAX	   16
#define BENCH_LAUNCHER_VMS 2
#define BENCH_HANDLER_VMS  10

struct bench_step {
	char *name; /* owned; of handler/steps.c's table, and "total" */
	struct samples us;
};

struct bench {
	struct cli cli; /* the user's, but with our own root */
	char *root,
		*alone; /* owned folders: the handler's root, and another without; NULL: not made */
	int root_lock, alone_lock; /* held on them; -1: not made */
	struct client *client;
	int handler_pidfd; /* our child; -1: none */
	pid_t handler_pid;
	struct handler
		here; /* no handler: `alone`, topology, copies of images, for its functions */
	struct manifest manifest;
	const struct manifest_item *vm; /* borrowed from it */
	struct cluster_config cluster;
	struct plan *plan;
	char *qemu;   /* owned; as the handler's VMs have it */
	bool stopped; /* a signal came */

	const char *no_bare; /* why QEMU alone can't be measured with this VM; NULL: it can */
	struct samples bare, bare_ready; /* fork to running; of that until QMP's greeting */
	struct samples virtpod,
		ours; /* request to running; its difference to bare of the same round */
	struct bench_step steps[BENCH_STEPS_MAX];
	size_t n_steps;
	struct samples boundary, boundary_undo, namespaces;
	struct samples crun;
	char *no_crun; /* owned; why not */
	struct samples gone_processes, gone_all;
	struct samples launchers; /* bytes */
	struct samples handler;	  /* bytes */
	char *no_memory;	  /* owned; why not */
	json_t *trace;		  /* array of events, owned; NULL: not asked for */
};

uint64_t bench_now(void);

/* Has the user asked to end? Signals are blocked, so this is looked at between measurements. */
bool bench_stopped(struct bench *b);

/* bench_world.c: the root, the handler, and their end. -ECANCELED: a signal came. */
int bench_open(struct bench *b, const struct cli *cli, const struct texts *files, struct err *err);
void bench_close(struct bench *b);

/* Which process serves b->client now: one on demand ends when it is idle, and the next call starts another. */
int bench_find_handler(struct bench *b, struct err *err);

/*
 * bench_wait.c: fd is ready, or a child has ended; -ETIMEDOUT when it is not, -ECANCELED when a signal came,
 * and such a child is killed and reaped.
 */
#define BENCH_ANSWER_MS 30000
int bench_ready(struct bench *b, int fd, int ms, const char *what, struct err *err);
int bench_wait(struct bench *b, int pidfd, int ms, const char *what, siginfo_t *ret,
	       struct err *err);

/* bench_vm.c: one VM of the handler; `name` instead of the manifest's. */
int bench_vm_start(struct bench *b, const char *name, json_t **ret_vmi, uint64_t *ret_began,
		   uint64_t *ret_running, struct err *err);
int bench_vm_delete(struct bench *b, const char *name, uint64_t *ret_processes, uint64_t *ret_all,
		    struct err *err);
int bench_vm_pid(struct bench *b, const char *name, const char *process, pid_t *ret,
		 struct err *err);

/* bench_bare.c: the same QEMU without virtpod. */
int bench_bare(struct bench *b, struct err *err);

/* bench_boundary.c: a pod with nothing in it but a program that ends at once. */
int bench_boundary(struct bench *b, size_t rounds, struct err *err);

/* bench_crun.c: the same program in a container; sets no_crun where that can't be. */
int bench_crun(struct bench *b, size_t rounds, struct err *err);

/* bench_memory.c */
int bench_memory(struct bench *b, struct err *err);

/* bench_report.c */
double bench_quiet_load(void); /* above it figures say more of others' work than of ours */
json_t *bench_json(const struct bench *b, double load_before);
void bench_table(const json_t *report, FILE *to);

/* bench_trace.c: spans of one "thread" of the trace. Does nothing when no trace is wanted. */
enum bench_track { TRACK_BARE = 1, TRACK_REQUEST, TRACK_HANDLER, TRACK_DELETE, TRACK_BOUNDARY };
void bench_span(struct bench *b, enum bench_track track, const char *name, uint64_t from,
		uint64_t to);
int bench_trace_write(const struct bench *b, const char *path, struct err *err);

/* bench_true.c: a static executable that does nothing but end with 0, as a file of mode 0755. */
int bench_true_write(int dirfd, const char *name, struct err *err);
