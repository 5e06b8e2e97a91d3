// SPDX-License-Identifier: Apache-2.0
/* Hearing that links or their addresses have changed; which ones, the next look says. */
#pragma once

#include "lib/err.h"

/*
 * A socket that becomes readable when a link, a bridge's port or an address of the namespace (-1: this
 * one) changes; CLOEXEC, never blocks, the caller's. While it is open the namespace stays.
 */
int net_watch_open(int netns_fd, int *ret_fd, struct err *err);

/* Until the next change. What was lost for want of room is no matter: something has changed. */
void net_watch_drain(int fd);
