// SPDX-License-Identifier: Apache-2.0
/* What the kernel says of a running VM, and how that compares with what was promised. */
#pragma once

#include "handler/handler.h"

/*
 * Everything that can be shown of a VM's pod, as /proc, the cgroups and netlink report it now; keys in
 * docs/inspect.md. Reads while the caller waits. *ret is the caller's. -ENOENT: no such VMI. A VMI that
 * has no pod is no error: {"running": false, "vm": …}.
 */
int inspect_vmi(struct handler *h, const char *ns, const char *name, json_t **ret, struct err *err);

/*
 * Plan, ledger and placement against what inspect_vmi reads: {"vm", "ok", "checks", "differences":
 * [{"what", "wanted", "found", "text"}]}. *ret is the caller's. -ENOENT: no such VMI; -ESRCH: it has no
 * running pod, so that there is nothing that a promise could be compared with.
 */
int verify_vmi(struct handler *h, const char *ns, const char *name, json_t **ret, struct err *err);
