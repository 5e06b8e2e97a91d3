// SPDX-License-Identifier: Apache-2.0
/*
 * The logs of a VMI: console (what its guest says), qemu (QEMU's stdout and stderr), launcher. While its
 * pod is there they are in the pod's own tmpfs: the launcher writes the first two, which it was handed,
 * the handler the third; their size is bounded by whoever writes, and by the kernel. When the pod ends
 * they go to lib/logs/UID, and stay until the object goes.
 */
#pragma once

#include "handler/pod.h"

#include "lib/logfile.h"

#define LAUNCHER_LOG_MAX (256u << 10)

/*
 * A pipe in the pod's directory for the launcher's stdout and stderr; *ret (the caller's) is its end of
 * it. It reads from it, too: so what it says while there is no handler waits for the next one. A full
 * pipe costs it words, and no time.
 */
int podlog_create(struct pod *pod, int *ret, struct err *err);

/* Log the lines that come from that pipe. */
int podlog_watch(struct pod *pod, struct err *err);

/* The pod's directory is about to go: keep its logs (not of an object that is being deleted). */
void podlog_keep(struct pod *pod);

/* The object has gone. Nothing there is fine. */
void podlog_drop(struct handler *h, const char *uid);

/* At the start: what is kept of objects that are no more. */
void podlog_drop_orphans(struct handler *h);

struct podlog {
	int fd; /* for reading; the caller's */
	uint64_t max;
	char *live; /* path of the file while it is written, else NULL; the caller's */
};

/*
 * A VMI's log by its name: "console", "qemu" or "launcher". -EINVAL: no such name, the message has the
 * known ones; -ENOENT: nothing was logged, as it has not started, or is told not to.
 */
int podlog_open(struct handler *h, const char *uid, const char *which, struct podlog *ret,
		struct err *err);
