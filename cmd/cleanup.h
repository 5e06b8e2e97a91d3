// SPDX-License-Identifier: Apache-2.0
/* The work of `virtpod cleanup`, for who has a root to clean. */
#pragma once

#include "cmd/cli.h"

#include "lib/err.h"

/* Its exit status, which is virt-handler's; negative when that could not even be started. */
int cleanup_root(const struct cli *cli, bool force, struct err *err);
