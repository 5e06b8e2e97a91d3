// SPDX-License-Identifier: Apache-2.0
/* Attach a stream socket to a running VM's serial console, by way of its launcher. */
#pragma once

#include "handler/handler.h"

/*
 * client_fd_consume is one end of a SOCK_STREAM pair, gone also on failure. done is called once, later,
 * unless this returns negative: 0 the console is on the socket; -EBUSY somebody else has it; -ENOENT is
 * returned at once when no such VM runs.
 */
int pod_console(struct handler *h, const char *ns, const char *name, int client_fd_consume,
		void (*done)(void *arg, int r, const struct err *err), void *arg, struct err *err);
