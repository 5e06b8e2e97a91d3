// SPDX-License-Identifier: Apache-2.0
/*
 * A VM's network stays as it was made, or its status says what is missing: links of the pod and of the
 * host, and the name of the pod's namespace below run/netns. Anybody with the rights can delete them. The
 * kernel tells of each change; what then differs from what `verify` wants is condition virtpod.io/Network
 * and an event. Nothing is repaired: a guest goes on with what the kernel has left it.
 */
#pragma once

#include "handler/pod.h"

#include <stdbool.h>
#include <sys/types.h>

/* For the host's side of all pods, as long as this handler lives. */
int wires_open(struct handler *h, struct err *err);
void wires_close(struct handler *h);

/* For this pod, whose QEMU is there: be told, and look soon. A failure is logged. */
void wires_watch(struct pod *pod);
void wires_unwatch(struct pod *pod); /* what was said goes from the status, too; idempotent */

/* Is the network namespace of this process of the pod's the one that is pinned below run/netns? */
bool wires_pinned(const struct pod *pod, pid_t pid);
