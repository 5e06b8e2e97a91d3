// SPDX-License-Identifier: Apache-2.0
/*
 * The two SQLite files. lib/store.db (WAL, full sync): objects, what the user said. run/runtime.db (no
 * sync: it survives kill -9, and is void after a reboot, told by the boot id): status, pods and their
 * steps, the ledger of exclusive CPUs, events. One handler owns both; nobody else writes to them.
 */
#pragma once

#include "handler/paths.h"

#include "cpu/allocator.h"
#include "lib/err.h"

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct store;

int store_open(const struct paths *paths, struct store **ret, struct err *err);
void store_close(struct store *s);

/*
 * Another process' look at the objects, with a handler beside it or without: store_get and store_list
 * alone may be called. -ENOENT: no handler ever served this root. -EACCES: for root only.
 */
int store_open_to_read(const struct paths *paths, struct store **ret, struct err *err);

/* Asked after reading: did a handler come meanwhile? Then nothing that was read, or failed, counts. */
bool store_overtaken(const struct store *s);

/* Objects. `kind` is the plural with its group ("virtualmachineinstances.kubevirt.io"); ns "" when
 * cluster-wide. Bodies hold no status but a guest's end: status is kept apart, by uid, and joined.
 * store_put gives the body metadata.resourceVersion (a counter of the whole store, never reused). */
int store_put(struct store *s, const char *kind, const char *ns, const char *name, json_t *body,
	      struct err *err);
int store_get(struct store *s, const char *kind, const char *ns, const char *name, json_t **ret,
	      struct err *err); /* -ENOENT when absent */
int store_delete(struct store *s, const char *kind, const char *ns, const char *name,
		 struct err *err); /* -ENOENT when absent */
/* All of a kind in name order, ns NULL: of every namespace; *ret_array is the caller's. */
int store_list(struct store *s, const char *kind, const char *ns, json_t **ret_array,
	       struct err *err);
uint64_t store_version(struct store *s); /* the counter now */
/* A status change counts, too. 0: none can be given now, as it could not be kept from being given again. */
uint64_t store_next_version(struct store *s, struct err *err);

/* Runtime: status of an object by uid; NULL body removes. */
int store_status_put(struct store *s, const char *uid, const json_t *status, struct err *err);
int store_status_get(struct store *s, const char *uid, json_t **ret, struct err *err);

/* Runtime: one row per pod, written before the step that it names begins. */
struct store_pod {
	char *uid, *ns, *name;
	/* index into the array of steps: this one may have begun. On disk by its name, as another version
	 * may have others; -1: one that this version does not have */
	int step;
	uint32_t host_id;   /* uid and gid of the pod on the host */
	int64_t pid;	    /* PID 1 of the pod, host's number; 0 before spawn */
	uint64_t pid_start; /* its start time in clock ticks (/proc/PID/stat field 22) */
	json_t *plan;	    /* owned */
};
void store_pod_done(struct store_pod *p); /* frees what it holds, not itself */
int store_pod_put(struct store *s, const struct store_pod *p, struct err *err);
int store_pod_delete(struct store *s, const char *uid, struct err *err);
int store_pods(struct store *s, struct store_pod **ret, size_t *ret_n, struct err *err);

/*
 * Runtime: the ledger. A CPU is in it once or not at all (-EEXIST); the table's key enforces it. It also
 * says which vCPU each one carries, so that the next handler can check the pins. Nothing held is no error.
 */
int store_cpus_take(struct store *s, const char *uid, const struct cpu_assignment *cpus,
		    struct err *err);
int store_cpus_free(struct store *s, const char *uid, struct err *err);
int store_cpus_of(struct store *s, const char *uid, struct cpu_assignment *ret, struct err *err);

/* Runtime: events. `last` is in seconds of CLOCK_BOOTTIME: no step of the clock ages them. */
struct store_event {
	const char *ns, *name;
	const char *uid; /* of the object that it is about */
	int64_t last;
};

/* What may stay: younger than `since`, and the newest of one object and of all. */
struct store_event_bounds {
	int64_t since, of_object, of_all;
};

/* As store_put: the body gets the next resourceVersion, and is the newest one now; without one it is not put. */
int store_event_put(struct store *s, const struct store_event *e, json_t *body, struct err *err);
int store_event_get(struct store *s, const char *ns, const char *name, int64_t *ret_last,
		    json_t **ret, struct err *err); /* ret_last may be NULL; -ENOENT when absent */
/* The one whose last time is longest ago first; ns NULL: of all namespaces. */
int store_event_list(struct store *s, const char *ns, json_t **ret_array, struct err *err);
int store_event_delete(struct store *s, const char *ns, const char *name, struct err *err);
/* Those beyond the bounds, of_object counting those of this uid; *ret_array is the caller's. */
int store_event_excess(struct store *s, const char *uid, const struct store_event_bounds *keep,
		       json_t **ret_array, struct err *err);
