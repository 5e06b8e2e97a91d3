// SPDX-License-Identifier: Apache-2.0
/*
 * The text of a manifest into objects, each checked as every way in checks it. All errors of all documents
 * are found, each with its file and line. Pure.
 */
#pragma once

#include "api/kind.h"

#include <jansson.h>
#include <stdbool.h>

struct manifest_item {
	const struct kind *kind;
	json_t *object;	  /* owned; as written, but for its namespace */
	json_t *admitted; /* owned; with the defaults filled in */
	char *place;	  /* owned; "vm.yaml:17" */
};

struct manifest {
	struct manifest_item *items;
	size_t n;
	unsigned errors; /* how many were found */
};

/* One line about what is wrong. */
typedef void (*manifest_complain_fn)(void *arg, const char *text);

/*
 * Add what is right in a text to *m, and tell fn what is not. name: as it is called in messages. ns: what
 * -n says, or NULL; an object of another namespace is wrong then. A List counts as its items.
 */
void manifest_take(struct manifest *m, const char *name, const char *text, size_t len,
		   const char *ns, manifest_complain_fn fn, void *arg);

/* Namespaces first, then the other configuration, then the rest; else in the order of the texts. */
void manifest_sort(struct manifest *m);

/* Is a file of this name read from a folder? *.yaml, *.yml, *.json, and none that begins with a dot. */
bool manifest_is_file(const char *name);

void manifest_item_done(struct manifest_item *item);
void manifest_done(struct manifest *m);
#define _cleanup_manifest_ __attribute__((cleanup(manifest_done)))

const char *manifest_ns(const struct manifest_item *item); /* NULL: cluster-wide */
/* "vmi default/demo", "kubeletconfiguration": how people read about it. The caller's. */
char *manifest_label(const struct manifest_item *item);
