// SPDX-License-Identifier: Apache-2.0
/* The handler's one context: what it owns for its whole life. One thread, one sd-event loop. */
#pragma once

#include "handler/paths.h"
#include "handler/store.h"

#include "api/config.h"
#include "api/plan_make.h"
#include "cgroups/cgroup.h"
#include "cpu/policy.h"

#include <stdbool.h>
#include <systemd/sd-event.h>

struct image;
struct manifests;
struct logstream;
struct pod;
struct watch;
struct server;

struct handler {
	struct paths paths;
	sd_event *event;
	struct store *store;
	struct cgroup_host *cgroups;
	struct cpu_topology topology;

	/* read from the configuration objects again whenever one changes (handler/config.c) */
	struct err config_err; /* why the stored ones are not in force: then no VM starts */
	struct cluster_config cluster;
	struct cpu_policy policy;

	struct pod *pods;	       /* list of every pod that holds anything */
	struct image *images;	       /* files of images as sealed memfds (handler/images.c) */
	sd_event_source *images_timer; /* armed while no pod may need them */
	struct watch *watches;	       /* open watch streams (handler/watch.c) */
	struct logstream *logs;	       /* who reads logs (handler/logstream.c) */
	struct manifests *manifests;   /* static ones (handler/manifests.h) */
	struct server *server;	       /* the API on run/handler.sock */
	sd_event_source *reconcile;    /* armed by handler_kick */
	/* counts what can make a refused start possible: objects changed, CPUs freed */
	uint64_t changes;
	unsigned idle_ticks; /* seconds without work, of an on-demand handler */
	bool events_lost;    /* the last one was, and that was said */
	json_t *refused;     /* {uid: {"changes": when its start was refused, "message": why}} */
	sd_event_source
		*retry; /* armed while a start is refused or something withheld (handler/loop.c) */
	bool withheld;	/* a status was not announced: no version could be reserved */

	/* handler/wires.c */
	sd_event_source *wires_host, *wires_mounts, *wires_timer;

	int lock_fd;		     /* run/handler.lock, held: one handler per root */
	int launcher_fd;	     /* virt-launcher's executable */
	const char *qemu;	     /* path of QEMU's; NULL: none was found yet */
	sd_event_source *cpus_watch; /* of that file */
	cpu_set_t others_cpus;	     /* exclusive CPUs of other roots, as last read */
	const char *cpus_file;	/* NULL: the host's own (handler/hostcpus.h); tests have another */
	char node[65];		/* this node's name */
	struct plan_host has;	/* devices that worked when they were last opened (handler_probe) */
	struct plan_host nodes; /* those whose nodes were there then */
};

/* Everything of a start: store, cgroups, topology, configuration, adoption, the API. */
int handler_open(const char *root, struct handler *h, struct err *err);
void handler_close(struct handler *h);

/*
 * End and remove everything of a root that no handler serves, or will: the same undo as a start of a
 * handler, without one. Needs no QEMU. -ENOENT: no such root, and none is made. -EBUSY: a handler serves it, or, without force, a VM of it runs.
 */
int handler_clean(const char *root, bool force, struct err *err);

/* Look for QEMU (again): h->qemu is where it was found. -ENOENT: nowhere, and what to install. */
int handler_find_qemu(struct handler *h, struct err *err);

/* Open the host's devices to see which work, for a start: it may load their modules. */
void handler_probe(struct handler *h);

/* Which of them there are now, for whoever asks: modules come and go. Opens nothing. */
struct plan_host handler_look(const struct handler *h);

/* Compare desired and observed soon, from the loop; cheap to call often. */
void handler_kick(struct handler *h);

/* The same after a change that may let a refused VMI start. */
void handler_changed(struct handler *h);
