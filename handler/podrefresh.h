// SPDX-License-Identifier: Apache-2.0
/* Ask a running VM's QEMU, by way of its launcher, for what only QEMU knows. */
#pragma once

#include "handler/handler.h"

/*
 * Sets pod->qmp to QEMU's answer, or to NULL when there was none in three seconds; then calls done, once,
 * later. -ENOENT at once: no such VM runs, and done is not called.
 */
int pod_refresh(struct handler *h, const char *ns, const char *name, void (*done)(void *arg),
		void *arg);
