// SPDX-License-Identifier: Apache-2.0
/* The kinds of objects: their names in manifests, in URLs and on the command line. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "lib/err.h"

struct schema;

struct kind {
	const char *group;	 /* "" is the core group */
	const char *version;	 /* the one that objects are stored with */
	const char *old_version; /* accepted, too; or NULL */
	const char *kind;
	const char *plural;
	const char *singular;
	const char *short_names[3];
	bool namespaced;
	bool configuration; /* applied before VMs, persists, never removed by --rm */
	bool read_only;	    /* made by the handler: shown, not written */
	bool singleton;	    /* has no metadata.name: one per host, stored as "default" */
	const struct schema *schema;
};

#define KINDS_MAX 9
extern const struct kind kinds[KINDS_MAX];

/* By a manifest's apiVersion and kind; the message of -EINVAL names the right one. */
int kind_find(const char *api_version, const char *kind, const struct kind **ret, struct err *err);

/* The same of an object, in which both may also be misspelt or no text. */
int kind_of(const json_t *object, const struct kind **ret, struct err *err);

/* By the parts of an API path; NULL when there is none. Both versions are found. */
const struct kind *kind_by_path(const char *group, const char *version, const char *plural);

/* By what a user types: plural, singular, short name or kind, any case, each with ".group" if need be. */
const struct kind *kind_by_word(const char *word);

/* "kubevirt.io/v1", or "v1" for the core group. */
void kind_api_version(const struct kind *k, char *buf, unsigned size);
