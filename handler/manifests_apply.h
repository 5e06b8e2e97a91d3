// SPDX-License-Identifier: Apache-2.0
/* Objects of static manifests against what is stored. Problems are added as lines of text. */
#pragma once

#include "handler/handler.h"

#include "api/manifest.h"

#define MANIFESTS_PROBLEMS_MAX 100

/*
 * Make what is absent; replace configuration that differs; end a VM that differs, which is made again when
 * it is gone. Through the API's own gates, all of them before anything is done: a file with an object that
 * is refused is added to `refused`, and nothing of it is done.
 */
void manifests_apply(struct handler *h, const struct manifest *wanted, json_t *refused,
		     json_t *problems);

/* End objects of files that are gone, but those in `bad`. True: none is left to look for. */
bool manifests_remove_stale(struct handler *h, const struct manifest *wanted, const json_t *bad,
			    json_t *problems);
