// SPDX-License-Identifier: Apache-2.0
/*
 * What the kernel or the file system still has under this root's tag and no pod owns: cgroups and the
 * processes in them, host links, pinned namespaces, pod directories. A crash at any point leaves only such.
 */
#pragma once

#include "handler/handler.h"

/* Remove it all. Each thing that resists is logged with its reason; returns how many do. */
int leftovers_remove(struct handler *h);
