// SPDX-License-Identifier: Apache-2.0
/* A manifest on its way in: kind, structure, defaults, rules; the one way for every kind. */
#pragma once

#include <jansson.h>

#include "api/cause.h"
#include "api/kind.h"

/*
 * Check `obj` and fill in its defaults in place. 0, or -EINVAL with every cause found; the object is
 * then not to be used. *ret_kind is set whenever the kind itself is known. `namespace` (may be NULL:
 * "default") is what a namespaced object without one gets.
 */
int admit(json_t *obj, const char *namespace, const struct kind **ret_kind, struct causes *causes);
