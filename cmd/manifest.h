// SPDX-License-Identifier: Apache-2.0
/* Manifests of the command line: files, folders and stdin. */
#pragma once

#include "cmd/opts.h"

#include "api/manifest.h"

/*
 * paths: files, "-" for stdin, or folders, of which every *.yaml, *.yml and *.json is read in
 * the order of names. ns: the namespace of -n, or NULL. A List counts as its items. Errors go to
 * stderr, one line each. 0; -EINVAL when something is wrong in them; -ENOENT and other errnos
 * when one can't be read. *ret is filled with what is right in every case.
 */
int manifest_load(const struct texts *paths, const char *ns, struct manifest *ret);
