// SPDX-License-Identifier: Apache-2.0
/* What the kernel says of a running VM, and how that compares with what was promised. */
#pragma once

#include "handler/handler.h"

int inspect_vmi(struct handler *h, const char *ns, const char *name, json_t **ret, struct err *err);
int verify_vmi(struct handler *h, const char *ns, const char *name, json_t **ret, struct err *err);
