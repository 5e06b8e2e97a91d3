// SPDX-License-Identifier: Apache-2.0
/* The capabilities that virt-handler keeps: one table, each with what it is for. */
#pragma once

#include "lib/err.h"

/* Drop all others, from the bounding set, too. What the process does not have is no error here. */
int caps_cut(struct err *err);
