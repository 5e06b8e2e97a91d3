// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "handler/handler.h"

/*
 * The opposite of adoption, for a root that no handler will serve: every pod is walked backward, and
 * waited for. A VM that runs is refused (-EBUSY, and nothing is done), or killed with force. -EIO:
 * something resists, and was logged.
 */
int cleanup_all(struct handler *h, bool force, struct err *err);
