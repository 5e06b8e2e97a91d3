// SPDX-License-Identifier: Apache-2.0
/*
 * Kubernetes' label selectors (=, ==, !=, in, notin, key, !key, joined by commas) and field selectors:
 * metadata.name and metadata.namespace of every kind, and those of events that Kubernetes has. Pure.
 */
#pragma once

#include "api/kind.h"
#include "lib/err.h"

#include <jansson.h>
#include <stdbool.h>

struct selector;

/* Either text may be NULL or empty: everything matches. -EINVAL says what is wrong. */
int selector_parse(const struct kind *k, const char *labels, const char *fields,
		   struct selector **ret, struct err *err);
void selector_free(struct selector *s); /* NULL is fine */

/* object: whole, or what selector_part left of it. */
bool selector_matches(const struct selector *s, const json_t *object);

/* What selectors look at, of an object that is not kept; the caller's. */
json_t *selector_part(const json_t *object);

static inline void selector_freep(struct selector **s)
{
	selector_free(*s);
}
