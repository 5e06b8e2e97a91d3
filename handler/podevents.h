// SPDX-License-Identifier: Apache-2.0
/* Events of a pod's VMI, in KubeVirt's words where it has some (pkg/virt-handler/vm.go). */
#pragma once

#include "handler/pod.h"

/* Normal, by virt-handler. */
void pod_event(struct pod *pod, const char *reason, const char *message);
void pod_event_warning(struct pod *pod, const char *reason, const char *message);

/* The pod is being made: SuccessfulCreate, as KubeVirt's controller says it. */
void pod_event_created(struct pod *pod);

/*
 * A start that failed: FailedScheduling or FailedCreate when it was refused (the same refusal is counted
 * every five minutes at most, however often it is tried), else SyncFailed. Of a deletion nothing.
 */
void pod_event_failed(struct pod *pod);

/* How the guest ended: Stopped. */
void pod_event_stopped(struct pod *pod);

/* An event of QEMU's monitor that the launcher forwarded: GuestPanicked, IOerror. Others say nothing. */
void pod_event_qmp(struct pod *pod, const json_t *event);
