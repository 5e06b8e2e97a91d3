// SPDX-License-Identifier: Apache-2.0
/*
 * The first thing a handler does: every pod in the runtime store is either adopted, when its guest
 * runs and its launcher answers, or walked backward from the step it had reached; then everything of
 * this root that the kernel still has and the store does not know is removed. Guests are not touched.
 */
#pragma once

#include "handler/handler.h"

int adopt_all(struct handler *h, struct err *err);

/*
 * The opposite, for a root that no handler will serve: every pod is walked backward, and waited for. A VM
 * that runs is refused (-EBUSY, and nothing is done), or killed with force. -EIO: something resists,
 * and was logged.
 */
int adopt_none(struct handler *h, bool force, struct err *err);
