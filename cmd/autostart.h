// SPDX-License-Identifier: Apache-2.0
/* A virt-handler when none answers: the systemd unit where it is installed, else one of our own. */
#pragma once

#include "handler/paths.h"
#include "lib/err.h"

#include <limits.h>
#include <stdbool.h>

/*
 * Start virt-handler and wait until its socket answers, at most a minute. One of several callers at
 * once starts it (run/start.lock), the others wait for that one. own_root: --root was given, then a
 * unit is no help. Root only: -EACCES otherwise. -ENOTCONN: it ended, the message has its last words.
 */
int autostart(const struct paths *p, bool own_root, struct err *err);

/* The executable that it would start, into buf. -ENOTCONN: there is none, the message says where it was sought. */
int autostart_find(char buf[static PATH_MAX], struct err *err);

/* Connect and close again: 0 it answers, else what connect(2) said. */
int autostart_probe(const struct paths *p);
