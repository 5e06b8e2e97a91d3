// SPDX-License-Identifier: Apache-2.0
/*
 * Manifests: files and folders into objects, each checked as the handler will check it, configuration
 * first. All errors of all documents are found, each with its file and line.
 */
#pragma once

#include "cmd/opts.h"

#include "api/kind.h"
#include "lib/yaml.h"

#include <jansson.h>

struct manifest_item {
	const struct kind *kind;
	json_t *object;	  /* owned; as written, but for its namespace */
	json_t *admitted; /* owned; with the defaults filled in */
	char *place;	  /* owned; "vm.yaml:17" */
};

struct manifest {
	struct manifest_item *items;
	size_t n;
	unsigned errors; /* printed ones */
};

/*
 * paths: files, "-" for stdin, or folders, of which every *.yaml, *.yml and *.json is read in
 * the order of names. ns: the namespace of -n, or NULL. A List counts as its items. Errors go to
 * stderr, one line each. 0; -EINVAL when something is wrong in them; -ENOENT and other errnos
 * when one can't be read. *ret is filled with what is right in every case.
 */
int manifest_load(const struct texts *paths, const char *ns, struct manifest *ret);
void manifest_done(struct manifest *m);
#define _cleanup_manifest_ __attribute__((cleanup(manifest_done)))

const char *manifest_ns(const struct manifest_item *item); /* NULL: cluster-wide */
/* "vmi default/demo", "kubeletconfiguration": how people read about it. The caller's. */
char *manifest_label(const struct manifest_item *item);
