// SPDX-License-Identifier: Apache-2.0
/*
 * One file for all handlers of a host (two --root installations, say), /run/virtpod.cpus: who holds
 * which CPUs exclusively. It is read and replaced under a lock; entries whose pod has no cgroup and whose
 * handler is gone are void. Each handler's own ledger stays the authority for its own pods. -EBADMSG
 * when the file is not what handlers write: then no CPU is given.
 */
#pragma once

#include "handler/handler.h"

struct cpu_holders;

/* Add the other roots' entries to *holders ("root DIR: namespace/name"). */
int hostcpus_others(struct handler *h, struct cpu_holders *holders, struct err *err);

/*
 * Follow the file: when other roots claim or give up CPUs, this root's shared pool follows. VMs that
 * wait for CPUs are not woken by it, or two roots that both wait would wake each other for ever: the
 * slow retry is theirs (handler/loop.h).
 */
int hostcpus_watch(struct handler *h, struct err *err);
void hostcpus_unwatch(struct handler *h);

/* Claim for one pod; -EBUSY when another root took one of them meanwhile. */
int hostcpus_take(struct handler *h, const char *uid, const char *vm, const cpu_set_t *cpus,
		  struct err *err);
int hostcpus_free(struct handler *h, const char *uid, struct err *err); /* NULL: all of this root */
