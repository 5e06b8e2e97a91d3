// SPDX-License-Identifier: Apache-2.0
/* Paths of the API, as docs/api.md has them. Pure; names are percent-encoded where they need it. */
#pragma once

#include "api/kind.h"

/*
 * A collection (name NULL) or an object; ns NULL: of all namespaces, or a kind without them. Of
 * singletons the name does not matter. query (may be NULL) goes behind a '?' as it is. The caller's.
 */
char *url_object(const struct kind *k, const char *ns, const char *name, const char *query);

/* A VMI's subresource: group is subresources.kubevirt.io or subresources.virtpod.io. The caller's. */
char *url_subresource(const char *group, const char *ns, const char *vmi, const char *what);

/* The text with everything but letters, digits and -._~ as %XX; the caller's. */
char *url_escape(const char *text);
