// SPDX-License-Identifier: Apache-2.0
/* A process as the kernel describes it: what `inspect` shows and tests compare with the layers. */
#pragma once

#include "lib/err.h"

#include <jansson.h>
#include <sys/types.h>

/*
 * Read /proc/PID through one directory descriptor. Needs CAP_SYS_PTRACE for a pod's processes.
 * -ESRCH when it is gone. *ret is the caller's. Everything in it that the process itself can choose
 * (names, paths) is bounded and made printable UTF-8. Members:
 *   pid nsPid[] comm uids[4] gids[4] (real, effective, saved, file system) groups[] root
 *   capabilities {inheritable permitted effective bounding ambient}: 16 hexadecimal digits each
 *   noNewPrivs, seccomp {mode: disabled|strict|filter, filters}, dumpable (null for root's)
 *   namespaces {NAME: {inode, shared: with the reader}}, uidMap[] gidMap[] {inside outside count}
 *   mounts[] {root point options fs source}, limits[] {name soft hard}, fds[] {fd target}
 *   threads[] {tid nsTid[] comm cpus policy priority nice seccompFilters effective}
 */
int sandbox_read_process(pid_t pid, json_t **ret, struct err *err);
