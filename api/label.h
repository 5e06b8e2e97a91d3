// SPDX-License-Identifier: Apache-2.0
/* How objects are named to people. Pure. */
#pragma once

#include "api/kind.h"

#include <jansson.h>

/* "vmi default/demo", "node lab1", "kubeletconfiguration": the caller's. */
char *label_object(const struct kind *k, const json_t *object);
char *label_name(const struct kind *k, const char *ns, const char *name);

/* The short word for a kind: "vmi", "vm", "net-attach-def", else the singular. */
const char *label_kind(const struct kind *k);
