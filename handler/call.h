// SPDX-License-Identifier: Apache-2.0
/* One request of the API, free of HTTP: what objects.c and its neighbours answer. */
#pragma once

#include "handler/handler.h"
#include "handler/routes.h"

#include <stddef.h>

#define CALL_BODY_MAX (4u << 20)

/* All texts are borrowed; NULL where the request does not say. */
struct call {
	struct handler *h;
	struct route route;
	const char *content_type;
	const char *body;
	size_t body_len;
	/* the query's parameters that mean something here; others are ignored, as Kubernetes does */
	const char *label_selector;
	const char *field_selector;
	const char *resource_version;
	const char *timeout_seconds;
	const char *grace_period_seconds;
	const char *propagation_policy;
	const char *dry_run;
	const char *container, *tail_lines;
	bool watch, follow;
	/* of a static manifest, which no client can say: its file, and the hash of the object in it */
	const char *manifest, *manifest_hash;
};

/* The body, JSON or YAML, as one object; 0, or the HTTP code with a Status in *ret_status. */
unsigned call_body(const struct call *c, json_t **ret, json_t **ret_status);

/* What dryRun says, in the query or (a list) in `options`: 0 with *ret, or 400 and a Status. */
unsigned call_dry_run(const struct call *c, const json_t *options, bool *ret, json_t **ret_status);

/* A decimal number without sign; -EINVAL: something else, or beyond 64 bits. */
int call_number(const char *text, uint64_t *ret);
