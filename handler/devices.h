// SPDX-License-Identifier: Apache-2.0
/*
 * /dev/kvm and /dev/vhost-net, below the directory `root` ("/", or a test's): tried by opening them, which
 * is sure and may load a module, or only looked at.
 */
#pragma once

#include "api/plan_make.h"

/* Open them: which of them work, and which nodes were there. */
void devices_try(int root, struct plan_host *ret_works, struct plan_host *ret_nodes);

/*
 * What a host says that it has, with nothing opened: a node is there, and did not fail at the last try.
 * One that came since then counts; one that went does not.
 */
struct plan_host devices_look(int root, const struct plan_host *worked,
			      const struct plan_host *were_there);
