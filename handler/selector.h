// SPDX-License-Identifier: Apache-2.0
/*
 * Kubernetes' label selectors (=, ==, !=, in, notin, key, !key, joined by commas) and the two field
 * selectors that every kind has: metadata.name and metadata.namespace. Pure.
 */
#pragma once

#include "lib/err.h"

#include <jansson.h>
#include <stdbool.h>

struct selector;

/* Either text may be NULL or empty: everything matches. -EINVAL says what is wrong. */
int selector_parse(const char *labels, const char *fields, struct selector **ret, struct err *err);
void selector_free(struct selector *s); /* NULL is fine */

/* labels: the object's, NULL when it has none. */
bool selector_matches(const struct selector *s, const char *ns, const char *name,
		      const json_t *labels);

static inline void selector_freep(struct selector **s)
{
	selector_free(*s);
}
