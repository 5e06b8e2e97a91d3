// SPDX-License-Identifier: Apache-2.0
/* Which file QEMU is on this host. */
#pragma once

#include "lib/err.h"

/* An absolute path (static), looked for below the directory `root` ("/", or a test's). -ENOENT: none. */
int qemupath_find(int root, const char **ret, struct err *err);
