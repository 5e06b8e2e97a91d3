// SPDX-License-Identifier: Apache-2.0
/* Limits of a pod's processes that handler and launcher have to agree on. */
#pragma once

/*
 * Descriptors of QEMU, swtpm and the launcher, each: the handler raises the hard limit to it, where the
 * host lets it, and the launcher its soft one. A disk needs one or two, a queue two.
 */
#define LIMITS_NOFILE 4096
