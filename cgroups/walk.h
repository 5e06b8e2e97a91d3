// SPDX-License-Identifier: Apache-2.0
/*
 * Walks over all groups that a pod can have, in every hierarchy; any of them may be missing, as
 * after a crash half way. Internal to cgroups/.
 */
#pragma once

#include "cgroups/tree.h"

#include <sys/types.h>

int walk_exists(const struct tree *t, const char *uid, bool *ret, struct err *err); /* any group */

/* Any task of the pod in any of its groups, or 0. */
int walk_any_task(const struct tree *t, const char *uid, pid_t *ret, struct err *err);

/* Remove all groups of the pod; stops at the first that can't be removed. */
int walk_remove(const struct tree *t, const char *uid, struct err *err);

/* Uids of all pods of our tag, sorted, each once; the caller frees array and strings. */
int walk_list(const struct tree *t, char ***ret_uids, size_t *ret_n, struct err *err);
