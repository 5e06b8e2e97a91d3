// SPDX-License-Identifier: Apache-2.0
/*
 * Folders that are a benchmark's roots. Whoever made one holds a lock on it, which ends with the process
 * however that ends: one without is what a killed bench left.
 */
#pragma once

#include "lib/err.h"

#include <stdbool.h>

/*
 * A new folder below `parent` that no one else can write to, locked: its path (the caller's), and the
 * descriptor that holds the lock.
 */
int bench_folder_make(const char *parent, char **ret_path, int *ret_lock, struct err *err);

/*
 * End and remove what killed ones left below `parent`: handler, VMs, groups, namespaces, the folder.
 * Needs root. One that resists is logged, and left for the next time.
 */
void bench_folder_sweep(const char *parent, bool verbose);
