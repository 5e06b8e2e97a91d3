// SPDX-License-Identifier: Apache-2.0
/* A whole request into its answer. */
#pragma once

#include "handler/server_internal.h"

enum MHD_Result dispatch(struct request *r, const char *method, const char *path);
