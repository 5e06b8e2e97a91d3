// SPDX-License-Identifier: Apache-2.0
/*
 * The first thing a handler does: every pod in the runtime store is either adopted, when its guest
 * runs and its launcher answers, or walked backward from the step it had reached; then everything of
 * this root that the kernel still has and the store does not know is removed. Guests are not touched.
 */
#pragma once

#include "handler/handler.h"

int adopt_all(struct handler *h, struct err *err);
