// SPDX-License-Identifier: Apache-2.0
/*
 * run/pods/UID: a small tmpfs of the pod's own, so that what a launcher writes there (its outcome) is
 * bounded by the kernel. In it: launcher.sock (the launcher listens), outcome, and
 * the logs (handler/podlog.h).
 */
#pragma once

#include "handler/handler.h"

int poddir_create(struct handler *h, const char *uid, int *ret_fd, struct err *err);
int poddir_open(struct handler *h, const char *uid, int *ret_fd, struct err *err);
int poddir_destroy(struct handler *h, const char *uid, struct err *err); /* idempotent */
